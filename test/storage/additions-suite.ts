import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AppError } from '../../src/errors.ts'
import type { PlantStore } from '../../src/plants/plant-store.ts'
import type { OpenStorage, SharedStorage } from './opened-storage.ts'

const DAY_MS = 86_400_000

/** Every step of a count, and their days together. */
async function counted(plants: PlantStore, limit: number) {
  const countOfDay: Record<number, number> = {}
  const sizes: number[] = []
  let afterId: bigint | undefined
  do {
    const { days, lastId } = await plants.countAdditions(afterId, limit)
    assert.equal(new Set(days.map(({ day }) => day)).size, days.length, 'each day once')
    for (const { day, count } of days) countOfDay[day] = (countOfDay[day] ?? 0) + count
    sizes.push(days.reduce((sum, { count }) => sum + count, 0))
    afterId = lastId
  } while (afterId !== undefined)
  return { countOfDay, sizes }
}

export function describeAdditions(shared: SharedStorage, open: OpenStorage): void {
  describe('additions', () => {
    test('every plant is counted once, on the day of its creation, whatever the steps', async () => {
      const { plants, clock } = shared
      const first = Math.floor(clock.nowMs() / DAY_MS)
      const ids = [-9223372036854775808n, -1n, 0n, 9007199254740992n, 9007199254740993n, 9223372036854775807n]
      for (const id of ids.slice(0, 4)) await plants.create({ id, name: 'Rosa' })
      // To the last millisecond of the day, and the first one of the next.
      clock.advance((first + 1) * DAY_MS - 1 - clock.nowMs())
      await plants.create({ id: 5n, name: 'Rosa', tag: 'shrub' })
      clock.advance(1)
      for (const id of ids.slice(4)) await plants.replace(id, { name: 'Rosa' })
      const wanted = { [first]: 5, [first + 1]: 2 }
      for (const limit of [1, 2, 3, 6, 7, 8, 50_000]) {
        const { countOfDay, sizes } = await counted(plants, limit)
        assert.deepEqual(countOfDay, wanted, `steps of ${limit}`)
        assert.ok(Math.max(...sizes) <= limit)
      }
    })

    test('an update does not change the day, and deleted plants are not counted', async () => {
      const { plants, clock } = shared
      assert.deepEqual(await plants.countAdditions(undefined, 10), { days: [], lastId: undefined })
      assert.deepEqual(await plants.countAdditions(9223372036854775807n, 10), { days: [], lastId: undefined })
      const day = Math.floor(clock.nowMs() / DAY_MS)
      for (const id of [1n, 2n, 3n]) await plants.create({ id, name: 'Rosa' })
      clock.advance(DAY_MS)
      await plants.update(1n, { name: 'Rosa canina' })
      await plants.replace(2n, { name: 'Rosa rugosa' })
      await plants.delete(3n)
      assert.deepEqual((await counted(plants, 10)).countOfDay, { [day]: 2 })
      assert.deepEqual((await counted(plants, 1)).countOfDay, { [day]: 2 })
    })

    test('a step on a store that was closed rejects with 50302', async (t) => {
      const storage = await open(t)
      await storage.plants.create({ id: 1n, name: 'Rosa' })
      const { lastId } = await storage.plants.countAdditions(undefined, 1)
      assert.equal(lastId, 1n)
      await storage.close()
      const next = storage.plants.countAdditions(lastId, 1)
      await assert.rejects(next, (error) => error instanceof AppError && error.code === 50302)
    })

    test('more plants than are read in one step are counted, too', async () => {
      const { plants, clock } = shared
      const day = Math.floor(clock.nowMs() / DAY_MS)
      const added = plants.openImport({ onConflict: 'keep', dryRun: false })
      for (let step = 0; step < 3; step++) {
        await added.add(
          Array.from({ length: 1000 }, (_, at) => ({ id: BigInt(step * 1000 + at), name: 'Rosa' })),
        )
      }
      await added.close()
      for (const limit of [999, 1000, 2999, 3000, 3001]) {
        assert.deepEqual((await counted(plants, limit)).countOfDay, { [day]: 3000 }, `steps of ${limit}`)
      }
    })
  })
}
