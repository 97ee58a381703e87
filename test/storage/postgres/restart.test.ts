import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { keepTrying } from '../../support/keep-trying.ts'
import { postgresMissing, startPostgres } from '../../support/postgres/postgres-server.ts'
import { openDatabase } from './temporary-database.ts'

/** Creates and as many reads: 200 operations a second. */
const LOAD_INTERVAL_MS = 10
const RESTARTS = 4
const LOAD_BEFORE_MS = 300
/** Far less than a connection that is stuck until its timeout, and more than a busy machine needs. */
const BACK_WITHIN_MS = 3_000

describe('a database that is restarted under load', { skip: postgresMissing }, () => {
  for (const mode of ['fast', 'immediate'] as const) {
    test(`is used again as soon as it is back, and no acknowledged plant is lost (${mode})`, async (t) => {
      const server = await startPostgres(t)
      const { plants } = await openDatabase(t, await server.createDatabase())
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
      t.after(() => clearInterval(load))
      for (let restart = 0; restart < RESTARTS; restart++) {
        await pause(LOAD_BEFORE_MS)
        await server.stop(mode)
        await server.start()
        const startMs = performance.now()
        await keepTrying(
          () => assert.ok(last.createMs > startMs && last.readMs > startMs, `restart ${restart}`),
          { withinMs: BACK_WITHIN_MS },
        )
      }
      clearInterval(load)
      const expected = [...acknowledged]
      const stored = await Promise.all(expected.map((id) => plants.get(id)))
      assert.deepEqual(
        expected.filter((_, at) => stored[at] === undefined),
        [],
      )
    })
  }
})
