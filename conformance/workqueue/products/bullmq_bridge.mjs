// Carries out calls at BullMQ: one JSON array a line on stdin, [operation, queue, ...arguments], and its result on
// stdout. Arguments: the folder of BullMQ, and the port of Redis.
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'

const [folder, port] = process.argv.slice(2)
const { Queue, Worker, Job, UnrecoverableError } = createRequire(folder + '/')('bullmq')
const connection = { host: '127.0.0.1', port: Number(port) }
const opened = {} // by name, the queue and a worker that fetches for all consumers
const held = {} // by token of the fetch, the job

const operations = {
  open: async name => {
    const queue = new Queue(name, { connection })
    const worker = new Worker(name, null, { connection, autorun: false, stalledInterval: 100, maxStalledCount: 1000 })
    await Promise.all([queue.waitUntilReady(), worker.waitUntilReady()])
    opened[name] = { queue, worker }
  },
  add: async (name, body, key) => {
    const deduplication = { id: key, keepLastIfActive: true }
    return (await opened[name].queue.add('job', { body, key }, { deduplication, attempts: 1000 })).id
  },
  fetch: async (name, token) => {
    const job = await opened[name].worker.getNextJob(token, { block: false })
    if (!job) return null
    held[token] = job
    return [job.id, job.data.body, job.data.key]
  },
  // How a job ends: `complete`, `fail` (and it is tried again), or `give up`.
  end: async (name, token, how) => {
    const error = how === 'fail' ? new Error(how) : new UnrecoverableError(how)
    try {
      if (how === 'complete') await held[token].moveToCompleted('', token, false)
      else await held[token].moveToFailed(error, token, false)
      return true
    } catch (refusal) {
      console.error(refusal.message)
      return false
    }
  },
  retry: async (name, id) => (await Job.fromId(opened[name].queue, id)).retry(),
  // Locks end, and the checker for stalled jobs runs until it has seen that.
  stall: async (name, tokens) => {
    for (const token of tokens) await held[token].extendLock(token, 1)
    await opened[name].worker.startStalledCheckTimer()
    for (const token of tokens) {
      while (await held[token].getState() === 'active') await new Promise(done => setTimeout(done, 20))
    }
  },
  close: async name => {
    await opened[name].worker.close(true)
    await opened[name].queue.close()
  }
}

console.log(JSON.stringify('ready'))
for await (const line of createInterface({ input: process.stdin })) {
  const [operation, ...given] = JSON.parse(line)
  console.log(JSON.stringify((await operations[operation](...given)) ?? null))
}
process.exit(0)
