// Workers of Graphile Worker, or a client that adds jobs: one JSON array a line on stdin, [operation, ...arguments], and
// its result on stdout. Arguments: the folder with node_modules, and the host, user and database.
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'

const [folder, host, user, database] = process.argv.slice(2)
const Clock = Date
let hours = 0 // by which the clock of this process is ahead
globalThis.Date = class extends Clock {
  static now () { return Clock.now() + hours * 3_600_000 }
  constructor (...given) { super(...(given.length ? given : [Date.now()])) }
}
const require = createRequire(folder + '/')
const { Logger, makeWorkerUtils, run } = await import(require.resolve('graphile-worker'))
const pg = require('pg')

const pgPool = new pg.Pool({ host, user, database })
const logger = new Logger(() => (level, text) => { if (level === 'error') console.error(text) })
const utils = await makeWorkerUtils({ pgPool, logger })
const begun = [] // bodies of jobs of which nobody was told yet
const inHand = new Map() // what ends a job, by its body

const operations = {
  migrate: () => utils.migrate(),
  add: async (queueName, body) => (await utils.addJob('task', { body }, { queueName })).id,
  // That many workers. Several have a local queue, from which they take.
  work: async count => {
    const task = ({ body }, { job }) => new Promise(resolve => {
      inHand.set(body, { id: job.id, resolve })
      begun.push(body)
    })
    const localQueue = { size: count > 1 ? 2 * count : -1 }
    // Locks that have lapsed are looked for that often, and not each 8 to 10 minutes.
    const looks = { minResetLockedInterval: 100, maxResetLockedInterval: 200 }
    await run({
      pgPool,
      taskList: { task },
      noHandleSignals: true,
      preset: { worker: { concurrentJobs: count, localQueue, pollInterval: 100, useNodeTime: true, ...looks, logger } }
    })
  },
  later: more => { hours += more },
  begun: () => begun.splice(0, 1),
  // Ends a job, and waits until it is gone from the database.
  end: async body => {
    const { id, resolve } = inHand.get(body)
    inHand.delete(body)
    resolve()
    while ((await pgPool.query('select from graphile_worker._private_jobs where id = $1', [id])).rowCount) {
      await new Promise(done => setTimeout(done, 5))
    }
  }
}

console.log(JSON.stringify('ready'))
for await (const line of createInterface({ input: process.stdin })) {
  const [operation, ...given] = JSON.parse(line)
  console.log(JSON.stringify((await operations[operation](...given)) ?? null))
}
process.exit(0)
