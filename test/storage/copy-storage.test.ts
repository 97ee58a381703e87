import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SetupError } from '../../src/errors.ts'
import { copyStorage } from '../../src/storage/copy-storage.ts'
import type { Storage } from '../../src/storage/storage.ts'
import { hashToken, type StoredToken } from '../../src/tokens/token.ts'
import { keepTrying } from '../support/keep-trying.ts'
import { postgresMissing } from '../support/postgres/postgres-server.ts'
import type { OpenStorage } from './opened-storage.ts'
import { emptyDatabases, sharePostgres } from './postgres/temporary-database.ts'
import { openTemporary } from './sqlite/temporary-storage.ts'

const TOKEN: StoredToken = {
  id: 'token-1',
  label: 'greenhouse',
  scopes: ['plants:read'],
  createdAtMs: 1_700_000_000_000,
}

/** Ids of plants that are made with a key each: more than one step of them. */
const KEYED = Array.from({ length: 700 }, (_, number) => BigInt(number * 7 + 1))
const keyOf = (id: bigint) => ({ caller: `caller-${id % 3n}`, key: `key "${id}"`, fingerprint: `body-${id}` })

/** Plants at the bounds, changed, tagged, long, and more than one step of them. */
async function fillStore({ plants, tokens }: Storage): Promise<void> {
  await tokens.create(TOKEN, hashToken('one'))
  await tokens.create({ ...TOKEN, id: 'token-2', expiresAtMs: TOKEN.createdAtMs + 1 }, hashToken('two'))
  await tokens.rotate('token-2', hashToken('two again'), TOKEN.createdAtMs + 2)
  const some = Array.from({ length: 1300 }, (_, number) => ({
    id: BigInt(number * 7),
    name: `plant ${number}`,
  }))
  await Promise.all([
    ...some.map((plant) => plants.create(plant)),
    plants.create({ id: -(2n ** 63n), name: 'Medicago ×varia "🌱"', tag: 'höchst' }),
    plants.create({ id: 2n ** 63n - 1n, name: 'n'.repeat(900_000), tag: 't'.repeat(3_000) }),
  ])
  await Promise.all(KEYED.map((id) => plants.create({ id, name: 'keyed' }, keyOf(id))))
  await plants.update(14n, { name: 'Açaí palm', tag: '' })
  await plants.delete(21n)
}

async function everything({ plants, dump }: Storage) {
  const all = []
  for (let afterId: bigint | undefined, isMore = true; isMore; ) {
    const page = await plants.list({ limit: 1000, ...(afterId !== undefined && { afterId }) })
    all.push(...page.plants)
    afterId = page.plants.at(-1)?.id
    isMore = page.hasMore
  }
  return { plants: all, tokens: await dump.tokens() }
}

function copySuite(name: string, openFrom: OpenStorage, openTo: OpenStorage): void {
  test(`${name}: copies plants with their times and versions, and tokens that still work`, async (t) => {
    const from = await openFrom(t)
    const to = await openTo(t)
    await fillStore(from)
    const steps: string[] = []
    const report = await copyStorage({
      from,
      to,
      onProgress: (step, plants) => steps.push(`${step} ${plants}`),
    })
    assert.deepEqual(report, { plants: 2001, tokens: 2, idempotencyKeys: 700 })
    assert.deepEqual(await everything(to), await everything(from))
    assert.deepEqual(await to.tokens.findByHash(hashToken('one')), TOKEN)
    for (const id of KEYED.slice(0, 5)) {
      const again = await to.plants.create({ id, name: 'keyed' }, keyOf(id))
      assert.deepEqual(again, { outcome: 'created', version: (await from.plants.get(id))?.version })
      const other = await to.plants.create({ id, name: 'other' }, { ...keyOf(id), fingerprint: 'other' })
      assert.equal(other.outcome, 'key-reused')
    }
    assert.deepEqual(steps.slice(0, 2), ['copied 512', 'copied 1024'])
    await keepTrying(async () => {
      const { plants } = await to.plants.list({ limit: 5, words: ['acai'] })
      assert.deepEqual(
        plants.map(({ id }) => id),
        [14n],
      )
    })
  })

  test(`${name}: a second copy completes an interrupted one, and reports plants that only the target has`, async (t) => {
    const from = await openFrom(t)
    const to = await openTo(t)
    await fillStore(from)
    await assert.rejects(
      copyStorage({
        from,
        to,
        onProgress(_step, plants) {
          if (plants > 512) throw new Error('broken off')
        },
      }),
      /broken off/,
    )
    assert.deepEqual(await copyStorage({ from, to }), { plants: 2001, tokens: 2, idempotencyKeys: 700 })
    const own = { ...TOKEN, id: 'token-3' }
    await to.tokens.create(own, hashToken('three'))
    await assert.rejects(
      copyStorage({ from, to }),
      (error) =>
        error instanceof SetupError && /tokens of its own \(token-3\).* token revoke/.test(error.message),
    )
    await to.tokens.revoke('token-3')
    await copyStorage({ from, to })
    await to.plants.update(7n, { name: 'another' })
    await assert.rejects(
      copyStorage({ from, to }),
      (error) => error instanceof SetupError && /plant 7\b/.test(error.message),
    )
  })
}

describe('a store is copied from file to file', () =>
  copySuite('SQLite to SQLite', openTemporary, openTemporary))

describe('a store is copied to another engine', { skip: postgresMissing }, () => {
  const openDatabases = emptyDatabases(sharePostgres())
  copySuite('SQLite to PostgreSQL', openTemporary, openDatabases)
  copySuite('PostgreSQL to SQLite', openDatabases, openTemporary)
})
