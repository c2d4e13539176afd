// A client of GroupMQ: one JSON array a line on stdin, [operation, ...arguments], and its result on stdout. Arguments:
// the folder of GroupMQ, the port of Redis, the name of the queue, and the time-out of jobs in ms.
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'

const [folder, port, namespace, timeout] = process.argv.slice(2)
const require = createRequire(folder + '/')
const { Queue, Worker } = require('groupmq')
const Redis = require('ioredis')

const redis = new Redis({ host: '127.0.0.1', port: Number(port), maxRetriesPerRequest: null })
const queue = new Queue({ redis, namespace, jobTimeoutMs: Number(timeout), maxAttempts: 1000 })
const begun = [] // bodies of jobs of which nobody was told yet
let end // what ends the job in hand
let ended // told when that is recorded

const operations = {
  add: async (groupId, body, orderMs) => (await queue.add({ groupId, data: { body }, orderMs })).id,
  remove: id => queue.remove(id),
  // Jobs of other groups, that nobody works at.
  others: async (count, orderMs) => {
    const jobs = await Promise.all(Array.from({ length: count }, (_, number) => (
      queue.add({ groupId: `other-${number}`, data: {}, orderMs })
    )))
    await Promise.all(jobs.map(job => queue.remove(job.id)))
  },
  work: () => {
    const handler = job => new Promise((resolve, reject) => {
      begun.push(job.data.body)
      end = { done: resolve, fail: () => reject(new Error('fail')) }
    })
    const worker = new Worker({ queue, handler, backoff: () => 0, stalledInterval: 200, stalledGracePeriod: 0, maxStalledCount: 1000 })
    for (const event of ['completed', 'failed']) worker.on(event, () => ended())
    worker.on('error', error => console.error(error.message))
  },
  begun: () => begun.splice(0),
  end: how => new Promise(resolve => {
    ended = resolve
    end[how]()
  })
}

console.log(JSON.stringify('ready'))
for await (const line of createInterface({ input: process.stdin })) {
  const [operation, ...given] = JSON.parse(line)
  console.log(JSON.stringify((await operations[operation](...given)) ?? null))
}
process.exit(0)
