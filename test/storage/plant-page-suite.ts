import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { PlantQuery, PlantStore } from '../../src/plants/plant-store.ts'
import { ID_MAX, ID_MIN, NOTABLE_IDS } from './notable-ids.ts'
import type { SharedStorage } from './opened-storage.ts'

async function pageOf(plants: PlantStore, query: PlantQuery): Promise<[ids: bigint[], hasMore: boolean]> {
  const page = await plants.list(query)
  return [page.plants.map(({ id }) => id), page.hasMore]
}

/** Walks through the pages and returns every id, in the order in which they came. */
async function walk(plants: PlantStore, query: PlantQuery): Promise<bigint[]> {
  const ids: bigint[] = []
  let next = query
  for (;;) {
    const [pageIds, hasMore] = await pageOf(plants, next)
    ids.push(...pageIds)
    const last = pageIds.at(-1)
    if (!hasMore) return ids
    assert.ok(last !== undefined, 'a page that is followed by others holds something')
    next = { ...query, afterId: last }
  }
}

export function describePages(shared: SharedStorage): void {
  describe('pages', () => {
    test('an empty store has one empty page', async () => {
      const { plants } = shared
      assert.deepEqual(await plants.list({ limit: 10 }), { plants: [], hasMore: false })
      assert.deepEqual(await plants.list({ limit: 10, tag: 'tree' }), { plants: [], hasMore: false })
    })

    test('plants are in the signed order of their ids, whatever the order of their creation', async () => {
      const { plants } = shared
      const shuffled = NOTABLE_IDS.toSorted((a, b) => (String(a) < String(b) ? -1 : 1))
      await Promise.all(shuffled.map((id) => plants.create({ id, name: 'Rosa', tag: 'shrub' })))
      for (const limit of [1, 2, 7, NOTABLE_IDS.length, 1000]) {
        assert.deepEqual(await walk(plants, { limit }), NOTABLE_IDS)
        assert.deepEqual(await walk(plants, { limit, tag: 'shrub' }), NOTABLE_IDS)
      }
    })

    test('a page begins after the given id, whether it is in use or not', async () => {
      const { plants } = shared
      for (const id of [ID_MIN, -10n, 10n, 20n, ID_MAX]) {
        await plants.create(id === 20n ? { id, name: 'Rosa' } : { id, name: 'Rosa', tag: 'shrub' })
      }
      const cases: [afterId: bigint, all: bigint[]][] = [
        [ID_MIN, [-10n, 10n, 20n, ID_MAX]],
        [ID_MIN + 1n, [-10n, 10n, 20n, ID_MAX]],
        [-11n, [-10n, 10n, 20n, ID_MAX]],
        [-10n, [10n, 20n, ID_MAX]],
        [0n, [10n, 20n, ID_MAX]],
        [20n, [ID_MAX]],
        [ID_MAX - 1n, [ID_MAX]],
        [ID_MAX, []],
      ]
      for (const [afterId, all] of cases) {
        const tagged = all.filter((id) => id !== 20n)
        assert.deepEqual(await pageOf(plants, { limit: 10, afterId }), [all, false])
        assert.deepEqual(await pageOf(plants, { limit: 10, afterId, tag: 'shrub' }), [tagged, false])
      }
    })

    test('hasMore is exact at the boundary of a page', async () => {
      const { plants } = shared
      await Promise.all(
        [1n, 2n, 3n, 4n].map((id) => plants.create({ id, name: 'Rosa', tag: id < 4n ? 'a' : 'b' })),
      )
      assert.deepEqual(await pageOf(plants, { limit: 3 }), [[1n, 2n, 3n], true])
      assert.deepEqual(await pageOf(plants, { limit: 4 }), [[1n, 2n, 3n, 4n], false])
      assert.deepEqual(await pageOf(plants, { limit: 5 }), [[1n, 2n, 3n, 4n], false])
      assert.deepEqual(await pageOf(plants, { limit: 3, afterId: 1n }), [[2n, 3n, 4n], false])
      assert.deepEqual(await pageOf(plants, { limit: 2, tag: 'a' }), [[1n, 2n], true])
      assert.deepEqual(await pageOf(plants, { limit: 3, tag: 'a' }), [[1n, 2n, 3n], false])
      assert.deepEqual(await pageOf(plants, { limit: 1, tag: 'b' }), [[4n], false])
    })

    test('pages of any size follow each other without a gap', async () => {
      const { plants } = shared
      const ids = Array.from({ length: 150 }, (_, at) => BigInt(at * 3) - 200n)
      await Promise.all(ids.map((id) => plants.create({ id, name: 'Rosa', tag: 'shrub' })))
      // A store may read a page in steps: sizes around those it could choose, and around the number of
      // plants.
      for (const limit of [15, 16, 17, 31, 32, 33, 49, 50, 63, 64, 65, 75, 99, 100, 101, 149, 150, 151]) {
        for (const query of [{ limit }, { limit, tag: 'shrub' }]) {
          assert.deepEqual(await pageOf(plants, query), [ids.slice(0, limit), limit < ids.length])
          assert.deepEqual(await walk(plants, query), ids, `in pages of ${limit}`)
        }
      }
    })

    test('a plant moves to its new tag, and a removed tag has none', async () => {
      const { plants } = shared
      await plants.create({ id: 1n, name: 'Rosa', tag: 'a' })
      await plants.update(1n, { tag: 'b' })
      assert.deepEqual(await pageOf(plants, { limit: 1, tag: 'a' }), [[], false])
      assert.deepEqual(await pageOf(plants, { limit: 1, tag: 'b' }), [[1n], false])
      await plants.replace(1n, { name: 'Rosa' })
      assert.deepEqual(await pageOf(plants, { limit: 1, tag: 'b' }), [[], false])
    })

    test('a page is limited in bytes, too, and no plant is lost between two pages', async () => {
      const { plants } = shared
      const ids = Array.from({ length: 24 }, (_, at) => BigInt(at))
      const name = 'n'.repeat(600 * 1024)
      for (const id of ids) await plants.create({ id, name, tag: 'large' })
      for (const query of [{ limit: 1000 }, { limit: 1000, tag: 'large' }]) {
        const page = await plants.list(query)
        assert.ok(page.hasMore, 'a page is not 14 MiB large')
        assert.ok(page.plants.length > 0)
        assert.deepEqual(await walk(plants, query), ids)
      }
    })

    test('a plant larger than a page is a page of its own', async () => {
      const { plants } = shared
      await plants.create({ id: 1n, name: 'n'.repeat(6 * 1024 * 1024) })
      await plants.create({ id: 2n, name: 'small' })
      assert.deepEqual(await pageOf(plants, { limit: 10 }), [[1n], true])
      assert.deepEqual(await walk(plants, { limit: 10 }), [1n, 2n])
    })
  })
}
