import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import postgres, { type TransactionSql } from 'postgres'
import { AppError } from '../../../src/errors.ts'
import type { PlantStore } from '../../../src/plants/plant-store.ts'
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

  async function assertLocked(write: Promise<unknown>, message = /has locked/): Promise<void> {
    await assert.rejects(write, (error) => {
      assert.ok(error instanceof AppError)
      assert.match(error.message, message)
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

  /** Fulfils when the write has failed and a create at the same time has not, in less than the wait for a lock. */
  async function assertHoldsUpNoCreate(plants: PlantStore, id: bigint, write: Promise<unknown>) {
    const startMs = performance.now()
    const [{ outcome }] = await Promise.all([plants.create({ id, name: 'Rosa' }), assertLocked(write)])
    assert.equal(outcome, 'created')
    const tookMs = performance.now() - startMs
    assert.ok(tookMs < LOCK_TIMEOUT_MS, `${tookMs} ms`)
  }

  test('an import with a locked plant fails at its chunk, and delays other writes only once', async (t) => {
    const { plants, release } = await openBeside(t, (sql) => sql`SELECT FROM plants WHERE id = 1 FOR UPDATE`)
    const importing = plants.openImport({ onConflict: 'replace', dryRun: false })
    const chunk = [5n, 1n, 6n].map((id) => ({ id, name: 'Salix' }))
    await assertLocked(importing.add(chunk), /locked one of the 3 plants from this line on/)
    await assertHoldsUpNoCreate(plants, 100n, importing.add(chunk))
    // Its rows are in another chunk when the client sends the rest again.
    await assertHoldsUpNoCreate(plants, 101n, importing.add(chunk.slice(1)))
    await assertHoldsUpNoCreate(plants, 102n, plants.replace(1n, { name: 'Rosa' }))
    await release()
    assert.deepEqual(await importing.add(chunk), ['created', 'replaced', 'created'])
    await importing.close()
  })

  test('chunks of an import are stored in their order while the first is known to be locked', async (t) => {
    const { plants, release } = await openBeside(t, (sql) => sql`SELECT FROM plants WHERE id = 1 FOR UPDATE`)
    await assertLocked(plants.replace(1n, { name: 'Rosa' }))
    await release()
    const importing = plants.openImport({ onConflict: 'replace', dryRun: false })
    await Promise.all([
      importing.add([1n, 7n].map((id) => ({ id, name: 'Salix' }))),
      importing.add([{ id: 7n, name: 'Tilia' }]),
    ])
    assert.equal((await plants.get(7n))?.name, 'Tilia')
    await importing.close()
  })

  test('a locked idempotency key fails its creates only, and delays other writes only once', async (t) => {
    const idempotency = { caller: 'w', key: 'k', fingerprint: 'f' }
    const { plants } = await openBeside(
      t,
      (sql) => sql`INSERT INTO idempotency_keys (caller, key, fingerprint, plant_version, created_at)
        VALUES ('w', 'k', 'f', 1, 0)`,
    )
    const message = /locked this plant or its Idempotency-Key/
    await assertLocked(plants.create({ id: 5n, name: 'Rosa' }, idempotency), message)
    await assertHoldsUpNoCreate(plants, 100n, plants.create({ id: 6n, name: 'Rosa' }, idempotency))
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
