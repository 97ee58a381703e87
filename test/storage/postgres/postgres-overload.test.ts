import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import postgres from 'postgres'
import { AppError } from '../../../src/errors.ts'
import { assertErrorResponse } from '../../support/http/error-body.ts'
import { startApp } from '../../support/http/start-app.ts'
import { keepTrying } from '../../support/keep-trying.ts'
import { postgresMissing } from '../../support/postgres/postgres-server.ts'
import { openDatabase, sharePostgres } from './temporary-database.ts'

const READS = 20
const WAIT_MAX_MS = 500
const BACK_WITHIN_MS = 3_000

describe('an overloaded database', { skip: postgresMissing }, () => {
  const shared = sharePostgres()

  test('a read that gets no slot in time is rejected, and running reads are not aborted', async (t) => {
    const url = await shared.server.createDatabase()
    const { plants } = await openDatabase(t, url, {
      postgresConnections: 1,
      postgresConnectTimeoutMs: WAIT_MAX_MS,
    })
    await plants.create({ id: 1n, name: 'Rosa' })
    const other = postgres(url, { max: 1 })
    t.after(() => other.end())
    const backends = async () =>
      (await other`SELECT pid FROM pg_stat_activity WHERE application_name = 'plantstore' ORDER BY pid`).map(
        ({ pid }) => pid,
      )
    await plants.get(1n)
    const before = await backends()
    const reads: Promise<unknown>[] = []
    const rejected: unknown[] = []
    await other.begin(async (sql) => {
      await sql`LOCK TABLE plants`
      for (let read = 0; read < READS; read++) {
        const reading = plants.get(1n)
        reads.push(reading)
        reading.catch((error: unknown) => rejected.push(error))
      }
      await keepTrying(() => assert.equal(rejected.length, READS - 4))
    })
    const results = await Promise.allSettled(reads)
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 4)
    for (const error of rejected) assert.ok(error instanceof AppError && error.code === 50302, String(error))
    assert.equal((await plants.get(1n))?.name, 'Rosa')
    // No connection was closed for it.
    assert.deepEqual(await backends(), before)
  })

  test('requests get 50302 while it accepts no connection (53300), and are served again afterwards', async (t) => {
    const { server } = shared
    const url = await server.createDatabase()
    const name = new URL(url).pathname.slice(1)
    await server.query(`CREATE ROLE busy LOGIN PASSWORD 'busy'; ALTER DATABASE ${name} OWNER TO busy`)
    const app = await startApp(t, {
      PLANTSTORE_DATABASE: `postgres://busy:busy@127.0.0.1:${server.port}/${name}`,
      PLANTSTORE_LOG_LEVEL: 'silent',
    })
    const plant = (id: number) => JSON.stringify({ id, name: 'Rosa' })
    assert.equal((await app.send('POST', '/plants', plant(1))).status, 200)
    await server.query('ALTER ROLE busy CONNECTION LIMIT 0')
    await server.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'busy'")
    // What breaks off first is of unknown outcome; then nothing can be sent any more.
    await keepTrying(async () => {
      const message = await assertErrorResponse(await app.send('POST', '/plants', plant(2)), 503, 50302)
      assert.match(message, /nothing was stored/)
    })
    await assertErrorResponse(await app.fetch('/plants/1'), 503, 50302)
    await assertErrorResponse(await app.fetch('/readyz'), 503, 50302)
    assert.match(server.log, /too many connections for role "busy"/)
    await server.query('ALTER ROLE busy CONNECTION LIMIT -1')
    await keepTrying(async () => assert.equal((await app.fetch('/readyz')).status, 200), {
      withinMs: BACK_WITHIN_MS,
    })
    assert.equal((await app.send('POST', '/plants', plant(3))).status, 200)
    assert.equal((await app.fetch('/plants/2')).status, 404)
  })
})
