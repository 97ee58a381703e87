import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import postgres from 'postgres'
import { createPostgresClient } from '../../../src/storage/postgres/connection/client.ts'
import { startKeyPurge } from '../../../src/storage/postgres/key-purge.ts'
import { connectionOptions } from '../../../src/storage/postgres/schema/prepare-database.ts'
import { postgresMissing } from '../../support/postgres/postgres-server.ts'
import { STORAGE_OPTIONS } from '../opened-storage.ts'
import { openDatabase, sharePostgres } from './temporary-database.ts'

const TTL_MS = 60_000
const PURGE_INTERVAL_MS = 30_000

describe('expired idempotency keys', { skip: postgresMissing }, () => {
  const shared = sharePostgres()

  test('are removed to the millisecond, and valid keys stay', async (t) => {
    const url = await shared.server.createDatabase()
    await openDatabase(t, url)
    const client = createPostgresClient({
      ...connectionOptions(url, STORAGE_OPTIONS),
      connections: 1,
      statementTimeoutMs: 10_000,
      serverEndsStatements: false,
    })
    t.after(() => client.close())
    const sql = postgres(url, { max: 1 })
    t.after(() => sql.end())
    t.mock.timers.enable({ apis: ['setInterval', 'Date'], now: Date.now() })
    const purgedAtMs = Date.now() + PURGE_INTERVAL_MS
    const agesMs = [0, TTL_MS / 2, TTL_MS / 2 + 1, TTL_MS - 1, TTL_MS, TTL_MS + 1, 2 * TTL_MS]
    for (const ageMs of agesMs) {
      await sql`INSERT INTO idempotency_keys VALUES ('gardener', ${ageMs}, 'f', 1, ${purgedAtMs - ageMs})`
    }
    const isPurged = Promise.withResolvers<void>()
    const observed: typeof client = {
      ...client,
      async write(work) {
        const result = await client.write(work)
        isPurged.resolve()
        return result
      },
    }
    const purge = startKeyPurge(observed, { idempotencyTtlMs: TTL_MS, nowMs: Date.now })
    t.after(() => purge.stop())
    t.mock.timers.tick(PURGE_INTERVAL_MS)
    await isPurged.promise
    const kept = await sql`SELECT key FROM idempotency_keys ORDER BY created_at DESC`
    assert.deepEqual(
      kept.map(({ key }) => Number(key)),
      agesMs.filter((ageMs) => ageMs <= TTL_MS),
    )
  })
})
