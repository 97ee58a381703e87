import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, type TestContext, test } from 'node:test'
import { prepareFile } from '../../../../src/storage/sqlite/connection/open-connection.ts'
import { createKeyPurge } from '../../../../src/storage/sqlite/writer/key-purge.ts'
import { temporaryFolder } from '../temporary-storage.ts'

const TTL_MS = 60_000
/** Longer than from one purge to the next. */
const A_WHILE_MS = 10_000
/** When the first purge runs. */
const FIRST_PURGE_MS = 5_000

/**
 * Lets time pass in steps, as timers that are set meanwhile run within one step only when they are due in it.
 */
function passTime(t: TestContext, byMs: number, afterEach: () => void = () => {}): void {
  for (let passedMs = 0; passedMs < byMs; passedMs += 25) {
    t.mock.timers.tick(25)
    afterEach()
  }
}

/**
 * A database with 2,500 keys that are past their time and 10 that are not, and a clock that the test moves.
 */
function keptKeys(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_800_000_000_000 })
  const path = join(temporaryFolder(t), 'plants.db')
  prepareFile(path, { checkOnStart: false })
  const database = new DatabaseSync(path, { timeout: 0 })
  t.after(() => database.close())
  const nowMs = Date.now()
  const insert = database.prepare('INSERT INTO idempotency_keys VALUES (?, ?, ?, 1, ?)')
  database.exec('BEGIN')
  for (let key = 0; key < 2500; key++) insert.run('gardener', `old ${key}`, 'f', nowMs - TTL_MS - 1)
  for (let key = 0; key < 10; key++) insert.run('gardener', `new ${key}`, 'f', nowMs)
  database.exec('COMMIT')
  const count = (like: string): number =>
    Number(
      database.prepare('SELECT count(*) AS count FROM idempotency_keys WHERE key LIKE ?').get(like)?.count,
    )
  return { path, database, old: () => count('old %'), fresh: () => count('new %') }
}

describe('expired idempotency keys', () => {
  test('are removed to the millisecond, and valid keys stay', (t) => {
    const { database } = keptKeys(t)
    database.exec('DELETE FROM idempotency_keys')
    const insert = database.prepare("INSERT INTO idempotency_keys VALUES ('gardener', ?, 'f', 1, ?)")
    const purgedAtMs = Date.now() + FIRST_PURGE_MS
    const agesMs = [0, TTL_MS / 2, TTL_MS / 2 + 1, TTL_MS - 1, TTL_MS, TTL_MS + 1, 2 * TTL_MS]
    for (const ageMs of agesMs) insert.run(`${ageMs}`, purgedAtMs - ageMs)
    const purge = createKeyPurge(database, TTL_MS, assert.fail)
    t.after(() => purge.stop())
    passTime(t, FIRST_PURGE_MS)
    const kept = database.prepare('SELECT key FROM idempotency_keys ORDER BY created_at DESC').all()
    assert.deepEqual(
      kept.map(({ key }) => Number(key)),
      agesMs.filter((ageMs) => ageMs <= TTL_MS),
    )
  })

  test('are removed, a bounded number at once, and valid keys stay', (t) => {
    const { database, old, fresh } = keptKeys(t)
    const purge = createKeyPurge(database, TTL_MS, assert.fail)
    t.after(() => purge.stop())
    assert.equal(old(), 2500)
    const counts = [old()]
    passTime(t, A_WHILE_MS, () => {
      if (old() !== counts.at(-1)) counts.push(old())
    })
    assert.equal(counts.at(-1), 0)
    for (const [at, count] of counts.slice(1).entries()) assert.ok((counts[at] ?? 0) - count <= 1000)
    assert.equal(fresh(), 10)
    passTime(t, TTL_MS + A_WHILE_MS)
    assert.equal(fresh(), 0)
  })

  test('are removed later if the storage fails, which is reported once', (t) => {
    const { path, database, old } = keptKeys(t)
    const troubles: string[] = []
    const purge = createKeyPurge(database, TTL_MS, (trouble) => troubles.push(trouble))
    t.after(() => purge.stop())
    using other = new DatabaseSync(path)
    other.exec('BEGIN IMMEDIATE')
    passTime(t, A_WHILE_MS)
    assert.equal(old(), 2500)
    other.exec('ROLLBACK')
    passTime(t, A_WHILE_MS)
    assert.equal(old(), 0)
    assert.deepEqual(troubles, ['Expired idempotency keys cannot be removed: database is locked.'])
  })

  test('stay once the purge is stopped', (t) => {
    const { database, old } = keptKeys(t)
    createKeyPurge(database, TTL_MS, assert.fail).stop()
    passTime(t, A_WHILE_MS)
    assert.equal(old(), 2500)
  })
})
