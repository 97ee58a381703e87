import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AppError } from '../../src/errors.ts'
import type { NewPlant, StoredPlant } from '../../src/plants/plant.ts'
import type { PlantFilter, PlantStore } from '../../src/plants/plant-store.ts'
import { keepTrying } from '../support/keep-trying.ts'
import { ID_MAX, NOTABLE_IDS } from './notable-ids.ts'
import type { OpenStorage, SharedStorage } from './opened-storage.ts'

/** More than the exports that any engine allows at once. */
const MANY = 40

async function exported(plants: PlantStore, filter: PlantFilter = {}): Promise<StoredPlant[]> {
  const all: StoredPlant[] = []
  for await (const step of plants.exportPlants(filter)) {
    assert.ok(step.length > 0, 'no step is empty')
    all.push(...step)
  }
  return all
}

/** The same from pages of the list. */
async function listed(plants: PlantStore, filter: PlantFilter = {}): Promise<StoredPlant[]> {
  const all: StoredPlant[] = []
  for (let query = { ...filter, limit: 1000 }; ; ) {
    const page = await plants.list(query)
    all.push(...page.plants)
    const last = page.plants.at(-1)
    if (!page.hasMore || last === undefined) return all
    query = { ...query, afterId: last.id }
  }
}

async function fill(plants: PlantStore, all: readonly NewPlant[]): Promise<void> {
  const importing = plants.openImport({ onConflict: 'keep', dryRun: false })
  for (let from = 0; from < all.length; from += 1000) await importing.add(all.slice(from, from + 1000))
  await importing.close()
}

const roses = (count: number): NewPlant[] =>
  Array.from({ length: count }, (_, at) => ({
    id: BigInt(at * 3) - 1000n,
    name: `Rosa ${at % 7 === 0 ? 'canina' : 'alba'} ${at}`,
    ...(at % 5 !== 0 && { tag: `tag ${at % 5}` }),
  }))

function isAppError(code: number): (error: unknown) => boolean {
  return (error) => error instanceof AppError && error.code === code
}

const begin = (plants: PlantStore, filter: PlantFilter = {}) =>
  plants.exportPlants(filter)[Symbol.asyncIterator]()

export function describeExports(shared: SharedStorage, open: OpenStorage): void {
  describe('export', () => {
    test('has every plant as a get returns it, in the signed order of the ids', async () => {
      const { plants, clock } = shared
      assert.deepEqual(await exported(plants), [])
      for (const id of NOTABLE_IDS.toReversed()) {
        await plants.create({ id, name: `plant of ${id}`, ...(id % 2n === 0n && { tag: '' }) })
      }
      clock.advance(1000)
      await plants.update(1n, { tag: 'updated' })
      const single = await Promise.all(NOTABLE_IDS.map((id) => plants.get(id)))
      assert.deepEqual(await exported(plants), single)
    })

    test('has the same plants as the list with the same filter', async () => {
      const { plants } = shared
      await fill(plants, roses(2500))
      await keepTrying(async () => assert.equal((await listed(plants, { words: ['rosa'] })).length, 2500))
      for (const filter of [
        {},
        { tag: 'tag 1' },
        { tag: 'tag' },
        { words: ['rosa'] },
        { words: ['can', 'ros'] },
        { words: ['alba', '2499'] },
        { words: ['rosa'], tag: 'tag 2' },
        { words: ['canina'], tag: 'Tag 2' },
        { words: ['tulipa'] },
        { words: [] },
      ]) {
        for (const afterId of [undefined, -1001n, 500n, 6496n, 6497n, ID_MAX]) {
          const query: PlantFilter = { ...filter, ...(afterId !== undefined && { afterId }) }
          assert.deepEqual(await exported(plants, query), await listed(plants, query))
        }
      }
    })

    test('matches the words with each name, even if the search index lags', async () => {
      const { plants } = shared
      await fill(plants, roses(700))
      await keepTrying(async () => assert.equal((await listed(plants, { words: ['canina'] })).length, 100))
      const found = await listed(plants, { words: ['canina'] })
      await Promise.all(found.slice(1).map(({ id }) => plants.update(id, { name: 'Iris' })))
      assert.deepEqual(await exported(plants, { words: ['canina'] }), found.slice(0, 1))
      // An index may hold words to a length only.
      const word = 'a'.repeat(700)
      await plants.create({ id: ID_MAX, name: `${word}b` })
      await keepTrying(async () => assert.equal((await exported(plants, { words: [word] })).length, 1))
      assert.deepEqual(await exported(plants, { words: [`${word}c`] }), [])
    })

    for (const filter of [{}, { tag: 'tag 1' }, { words: ['rosa'] }]) {
      const name = Object.keys(filter).join() || 'everything'
      test(`is one snapshot, whatever is written meanwhile (${name})`, async () => {
        const { plants } = shared
        const long = { id: 100_000n, name: `Rosa ${'longa '.repeat(9000)}`, tag: 'tag 1' }
        await fill(plants, [...roses(3000), long])
        await keepTrying(async () => assert.equal((await listed(plants, { words: ['rosa'] })).length, 3001))
        const before = await listed(plants, filter)
        const steps = begin(plants, filter)
        const first = await steps.next()
        const all = [...(first.value ?? [])]
        await fill(plants, [{ id: 1_000_000n, name: 'Rosa nova', tag: 'tag 1' }])
        await Promise.all([
          ...before.slice(0, 200).map(({ id }) => plants.delete(id)),
          ...before.slice(-200).map(({ id }) => plants.replace(id, { name: 'Iris' })),
          ...before.slice(300, 350).map(({ id }) => plants.delete(id)),
        ])
        for (;;) {
          const { done, value } = await steps.next()
          if (done) break
          all.push(...value)
        }
        assert.deepEqual(all, before)
        assert.notDeepEqual(await exported(plants, filter), before)
      })
    }

    test('starts again each time, with a new snapshot', async () => {
      const { plants } = shared
      const again = plants.exportPlants({})
      for (const id of [1n, 2n]) {
        await plants.create({ id, name: 'Rosa' })
        const ids: bigint[] = []
        for await (const step of again) ids.push(...step.map((plant) => plant.id))
        assert.equal(ids.length, Number(id))
      }
    })

    test('comes in bounded chunks, with complete texts of any length', async () => {
      const { plants } = shared
      const large = Array.from({ length: 20 }, (_, at) => ({
        id: BigInt(at),
        name: `Rosa ${at} ${'🌱'.repeat(at * 30_000)}`,
        tag: 't'.repeat((20 - at) * 1000),
      }))
      for (const plant of large) await plants.create(plant)
      await fill(
        plants,
        Array.from({ length: 3000 }, (_, at) => ({ id: BigInt(100 + at), name: 'Rosa' })),
      )
      const sizes: number[] = []
      const all: StoredPlant[] = []
      for await (const step of plants.exportPlants({})) {
        assert.ok(step.length <= 1000)
        sizes.push(step.reduce((sum, { name, tag = '' }) => sum + name.length + tag.length, 0))
        all.push(...step)
      }
      assert.ok(Math.max(...sizes) < 2 * 1024 * 1024, `${Math.max(...sizes)} characters in one step`)
      assert.deepEqual(
        all.slice(0, 20).map(({ id, name, tag }) => ({ id, name, tag })),
        large,
      )
      assert.equal(all.length, 3020)
    })

    test('holds a slot only from its first read to its end or until its consumer leaves', async () => {
      const { plants } = shared
      await fill(plants, roses(2000))
      const waiting = Array.from({ length: MANY }, () => begin(plants))
      for (let times = 0; times < MANY; times++) {
        for await (const step of plants.exportPlants({})) {
          assert.ok(step.length > 0)
          break
        }
      }
      for (let times = 0; times < MANY; times++) assert.equal((await exported(plants)).length, 2000)
      for (const steps of waiting) assert.deepEqual(await steps.return?.(), { done: true, value: undefined })
    })

    test('is rejected with 50301 while every slot is in use, and starts once one is free', async () => {
      const { plants } = shared
      await fill(plants, roses(2000))
      const running: AsyncIterator<readonly StoredPlant[]>[] = []
      let rejection: unknown
      while (rejection === undefined && running.length < MANY) {
        const steps = begin(plants)
        await steps.next().then(
          () => running.push(steps),
          (error: unknown) => {
            rejection = error
          },
        )
      }
      assert.ok(isAppError(50301)(rejection), String(rejection))
      assert.ok(running.length > 0)
      await running.pop()?.return?.()
      assert.equal((await exported(plants)).length, 2000)
      await assert.doesNotReject(Promise.all(running.map((steps) => steps.return?.())))
    })

    test('does not block reads, searches and writes while every slot is held by an idle consumer', async (t) => {
      const { plants } = await open(t, { postgresConnections: 1 })
      await fill(plants, roses(2000))
      const running = Array.from({ length: MANY }, () => begin(plants))
      const first = await Promise.allSettled(running.map((steps) => steps.next()))
      assert.ok(first.some(({ status }) => status === 'fulfilled'))
      for (let id = 1_000_000n; id < 1_000_020n; id++) {
        assert.equal((await plants.create({ id, name: 'Iris' })).outcome, 'created')
        assert.equal((await plants.get(id))?.name, 'Iris')
        await plants.list({ limit: 10, words: ['rosa'] })
        await plants.countTags(10)
      }
      await Promise.all(running.map((steps) => steps.return?.()))
    })

    test('fails with 50302 once its storage is closed, whether it was running or is new', async (t) => {
      const storage = await open(t)
      const { plants } = storage
      await fill(plants, roses(3000))
      const running = begin(plants)
      assert.equal((await running.next()).done, false)
      await storage.close()
      await assert.rejects(running.next(), isAppError(50302))
      assert.deepEqual(await running.next(), { done: true, value: undefined })
      await assert.rejects(begin(plants).next(), isAppError(50302))
      const importing = plants.openImport({ onConflict: 'keep', dryRun: false })
      await assert.rejects(importing.add(roses(1)), isAppError(50302))
      await importing.close()
    })
  })
}
