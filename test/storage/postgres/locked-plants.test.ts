import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import postgres, { type TransactionSql } from 'postgres'
import { AppError } from '../../../src/errors.ts'
import { postgresMissing } from '../../support/postgres/postgres-server.ts'
import { openDatabase, sharePostgres } from './temporary-database.ts'

const OTHERS = Array.from({ length: 100 }, (_, at) => BigInt(at + 100))
/** Less than the deadline of a statement, which all of them had to wait for. */
const OTHERS_WITHIN_MS = 12_000
/** How long a commit waits for a lock that it does not know of. */
const LOCK_TIMEOUT_MS = 2_000

describe('a plant that another session has locked', { skip: postgresMissing }, () => {
  const shared = sharePostgres()

  /** Opens a store, and a transaction of another session that has done this and goes on until it is released. */
  async function openBeside(t: TestContext, hold: (sql: TransactionSql) => Promise<unknown>) {
    const url = await shared.server.createDatabase()
    const { plants, tokens } = await openDatabase(t, url)
    await plants.create({ id: 1n, name: 'Quercus robur' })
    await tokens.create({ id: 'w', label: 'w', scopes: ['plants:write'], createdAtMs: 0 }, 'hash')
    const session = postgres(url, { max: 1 })
    const holds = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    const transaction = session.begin(async (sql) => {
      await hold(sql)
      holds.resolve()
      await released.promise
    })
    t.after(async () => {
      released.resolve()
      await transaction
      await session.end()
    })
    await holds.promise
    async function release() {
      released.resolve()
      await transaction
    }
    return { plants, tokens, release }
  }

  async function assertLocked(write: Promise<unknown>): Promise<void> {
    await assert.rejects(write, (error) => {
      assert.ok(error instanceof AppError)
      assert.equal(error.code, 50302)
      assert.deepEqual(error.details, { outcome: 'none' })
      return true
    })
  }

  const cases = [
    {
      name: 'a locked row',
      id: 1n,
      hold: (sql: TransactionSql) => sql`SELECT FROM plants WHERE id = 1 FOR UPDATE`,
    },
    {
      name: 'an id whose insertion is neither committed nor rolled back',
      id: 2n,
      hold: (sql: TransactionSql) =>
        sql`INSERT INTO plants (id, name, created_at, updated_at, version, words) VALUES (2, 'x', 0, 0, 1, '')`,
    },
  ]
  for (const { name, id, hold } of cases) {
    test(`fails alone, and its batch is stored without it: ${name}`, async (t) => {
      const { plants, release } = await openBeside(t, hold)
      for (const round of [0, 1]) {
        const startMs = performance.now()
        const locked = plants.replace(id, { name: 'Rosa' })
        const others = OTHERS.map((other) =>
          plants.create({ id: other + BigInt(round * 1_000), name: 'Rosa' }).then(({ outcome }) => outcome),
        )
        const [outcomes] = await Promise.all([Promise.all(others), assertLocked(locked)])
        assert.deepEqual(new Set(outcomes), new Set(['created']))
        assert.ok(performance.now() - startMs < OTHERS_WITHIN_MS, `${performance.now() - startMs} ms`)
      }
      await release()
      const { outcome } = await plants.replace(id, { name: 'Rosa' })
      assert.match(outcome, /created|replaced/)
    })
  }

  test('writes to a locked table time out, and succeed once it is unlocked', async (t) => {
    const { plants, release } = await openBeside(t, (sql) => sql`LOCK TABLE plants IN SHARE MODE`)
    await Promise.all(OTHERS.map((id) => assertLocked(plants.create({ id, name: 'Rosa' }))))
    await release()
    assert.equal((await plants.create({ id: 100n, name: 'Rosa' })).outcome, 'created')
  })

  test('a locked token delays no create; its last use is stored once it is unlocked', async (t) => {
    const hold = (sql: TransactionSql) => sql`SELECT FROM tokens WHERE id = 'w' FOR UPDATE`
    const { plants, tokens, release } = await openBeside(t, hold)
    const startMs = performance.now()
    tokens.recordUse('w', 1_000)
    assert.equal((await plants.create({ id: 100n, name: 'Rosa' })).outcome, 'created')
    const tookMs = performance.now() - startMs
    assert.ok(tookMs < LOCK_TIMEOUT_MS, `${tookMs} ms`)
    await release()
    tokens.recordUse('w', 2_000)
    await plants.create({ id: 101n, name: 'Rosa' })
    assert.equal((await tokens.findByHash('hash'))?.lastUsedAtMs, 2_000)
  })
})
