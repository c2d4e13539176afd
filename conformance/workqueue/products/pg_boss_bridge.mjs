// Carries out calls at pg-boss: one JSON array a line on stdin, [operation, ...arguments], and its result on stdout.
// Arguments: the folder of pg-boss, and the host, user and database.
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'

const [folder, host, user, database] = process.argv.slice(2)
const require = createRequire(folder + '/')
const { PgBoss } = await import(require.resolve('pg-boss'))
const pg = require('pg')

const boss = new PgBoss({ host, user, database, supervise: false, schedule: false, monitorIntervalSeconds: 1 })
boss.on('error', error => console.error(error))
await boss.start()
const pool = new pg.Pool({ host, user, database })

const operations = {
  create: (queue, options) => boss.createQueue(queue, options),
  send: (queue, body, options) => boss.send(queue, { body }, options),
  insert: (queue, jobs) => boss.insert(queue, jobs.map(([body, options]) => ({ data: { body }, ...options }))),
  // That many consumers at once, each of which is given a job, or null.
  fetch: (queue, count) => Promise.all(Array.from({ length: count }, async () => {
    const [job] = await boss.fetch(queue, { includeMetadata: true })
    return job ? [job.id, job.retryCount, job.data.body, job.singletonKey] : null
  })),
  // An attempt, and not an id alone: so a claim that has lapsed is told from the one that came after it.
  complete: async (queue, id, retryCount) => (await boss.complete(queue, { id, retryCount })).affected,
  fail: async (queue, id, retryCount) => (await boss.fail(queue, { id, retryCount })).affected,
  // Has the supervisor look until none of these jobs is active any more.
  expire: async (queue, ids) => {
    for (const id of ids) {
      while ((await boss.findJobs(queue, { id }))[0].state === 'active') {
        await boss.supervise(queue)
        await new Promise(done => setTimeout(done, 50))
      }
    }
  },
  // Jobs that are sent one after the other, in one transaction.
  together: async (queue, jobs) => {
    const client = await pool.connect()
    const db = { executeSql: (text, values) => client.query(text, values) }
    try {
      await client.query('BEGIN')
      for (const [body, options] of jobs) await boss.send(queue, { body }, { ...options, db })
      await client.query('COMMIT')
    } finally {
      client.release()
    }
  }
}

console.log(JSON.stringify('ready'))
for await (const line of createInterface({ input: process.stdin })) {
  const [operation, ...given] = JSON.parse(line)
  console.log(JSON.stringify((await operations[operation](...given)) ?? null))
}
await pool.end()
await boss.stop({ graceful: false })
