import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import postgres from 'postgres'
import type { Storage } from '../../../src/storage/storage.ts'
import { keepTrying } from '../../support/keep-trying.ts'
import { pgbouncerMissing, startPgbouncer } from '../../support/postgres/pgbouncer.ts'
import { postgresMissing, startPostgres } from '../../support/postgres/postgres-server.ts'
import { openDatabase } from './temporary-database.ts'

/** Creates and as many reads: 200 operations a second. */
const LOAD_INTERVAL_MS = 10
const LOAD_BEFORE_MS = 300
const INTERRUPTIONS = 3
/** Far less than a connection that is stuck until its timeout, and more than a busy machine needs. */
const BACK_WITHIN_MS = 4_000

/** Creates and reads plants while a database comes and goes. */
function startLoad(t: TestContext, { plants }: Storage) {
  const acknowledged: bigint[] = []
  const last = { readMs: 0, createMs: 0 }
  let nextId = 1n
  const load = setInterval(() => {
    const id = nextId++
    plants.create({ id, name: `plant ${id}` }).then(
      () => {
        acknowledged.push(id)
        last.createMs = performance.now()
      },
      () => {},
    )
    plants.get(1n).then(
      () => {
        last.readMs = performance.now()
      },
      () => {},
    )
  }, LOAD_INTERVAL_MS)
  const stop = () => clearInterval(load)
  t.after(stop)
  return {
    /** Interrupts the database, under load, and waits until reads and creates succeed again after that. */
    async survive(interrupt: () => Promise<void>): Promise<void> {
      await pause(LOAD_BEFORE_MS)
      await interrupt()
      const backMs = performance.now()
      await keepTrying(
        () => assert.ok(last.createMs > backMs && last.readMs > backMs, 'nothing succeeds again'),
        { withinMs: BACK_WITHIN_MS },
      )
    },
    /** Ends the load. Every plant that was acknowledged is there. */
    async assertNothingLost(): Promise<void> {
      stop()
      const expected = [...acknowledged]
      const stored = await Promise.all(expected.map((id) => plants.get(id)))
      assert.deepEqual(
        expected.filter((_, at) => stored[at] === undefined),
        [],
      )
    },
  }
}

describe('a database that is interrupted under load is used again once it is back', {
  skip: postgresMissing,
}, () => {
  for (const mode of ['fast', 'immediate'] as const) {
    test(`a restart of PostgreSQL (${mode})`, async (t) => {
      const server = await startPostgres(t)
      const load = startLoad(t, await openDatabase(t, await server.createDatabase()))
      for (let times = 0; times < INTERRUPTIONS; times++) {
        await load.survive(async () => {
          await server.stop(mode)
          await server.start()
        })
      }
      await load.assertNothingLost()
    })
  }

  test('a restart of PgBouncer', { skip: pgbouncerMissing }, async (t) => {
    const server = await startPostgres(t)
    const pooler = await startPgbouncer(t, server.url())
    const url = pooler.urlOf(await server.createDatabase())
    const load = startLoad(t, await openDatabase(t, url, { postgresPrepare: false }))
    for (let times = 0; times < INTERRUPTIONS; times++) {
      await load.survive(async () => {
        await pooler.kill()
        await pooler.start()
      })
    }
    await load.assertNothingLost()
  })

  test('connections of others that use every slot for a while', async (t) => {
    const settings = { max_connections: '14', superuser_reserved_connections: '0' }
    const server = await startPostgres(t, { settings })
    const url = await server.createDatabase()
    const load = startLoad(t, await openDatabase(t, url))
    await load.survive(async () => {
      // All of the service's connections are ended, and others are there first.
      const greedy = Array.from({ length: 14 }, () => postgres(url, { max: 1, onnotice() {} }))
      const [first] = greedy
      await first?.unsafe('SELECT 1')
      await first?.unsafe(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
      )
      await Promise.allSettled(greedy.map((sql) => sql.unsafe('SELECT 1')))
      await pause(500)
      await Promise.all(greedy.map((sql) => sql.end({ timeout: 0 })))
    })
    await load.assertNothingLost()
  })
})
