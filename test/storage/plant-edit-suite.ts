import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { StoredPlant } from '../../src/plants/plant.ts'
import type { PlantStore } from '../../src/plants/plant-store.ts'
import { NOTABLE_IDS } from './notable-ids.ts'
import type { SharedStorage } from './opened-storage.ts'

/** Stores a plant and reads it back. */
async function planted(plants: PlantStore, id: bigint, tag?: string): Promise<StoredPlant> {
  await plants.create(tag === undefined ? { id, name: 'Rosa' } : { id, name: 'Rosa', tag })
  const plant = await plants.get(id)
  assert.ok(plant)
  return plant
}

export function describeEdits(shared: SharedStorage): void {
  describe('replace', () => {
    test('a replaced plant keeps its id and its time of creation, and nothing else', async () => {
      const { plants, clock } = shared
      const old = await planted(plants, 3n, 'shrub')
      clock.advance(1)
      const replaced = await plants.replace(3n, { name: 'Rosa canina' })
      assert.ok(replaced.outcome === 'replaced')
      const plant = {
        id: 3n,
        name: 'Rosa canina',
        createdAtMs: old.createdAtMs,
        updatedAtMs: old.createdAtMs + 1,
        version: replaced.plant.version,
      }
      assert.deepEqual(replaced.plant, plant)
      assert.deepEqual(await plants.get(3n), plant)
    })

    test('replacing a plant that does not exist creates it, with the outcome created', async () => {
      const { plants, clock } = shared
      const createdAtMs = clock.nowMs()
      for (const id of NOTABLE_IDS) {
        const name = `plant ${id}`
        const replaced = await plants.replace(id, { name, tag: 'new' })
        assert.ok(replaced.outcome === 'created')
        const { version } = replaced.plant
        const plant = { id, name, tag: 'new', createdAtMs, updatedAtMs: createdAtMs, version }
        assert.deepEqual(replaced.plant, plant)
        assert.deepEqual(await plants.get(id), plant)
      }
    })
  })

  describe('update', () => {
    test('an update changes the given members only', async () => {
      const { plants } = shared
      await planted(plants, 1n, 'shrub')
      const steps = [
        [{ name: 'Rosa alba' }, 'Rosa alba', 'shrub'],
        [{ tag: 'tree' }, 'Rosa alba', 'tree'],
        [{ tag: '' }, 'Rosa alba', ''],
        [{ tag: null }, 'Rosa alba', undefined],
        [{ tag: null }, 'Rosa alba', undefined],
        [{ name: '' }, '', undefined],
        [{ name: 'Rosa', tag: 'again' }, 'Rosa', 'again'],
        [{}, 'Rosa', 'again'],
      ] as const
      for (const [change, name, tag] of steps) {
        const changed = await plants.update(1n, change)
        assert.equal(changed.outcome, 'updated')
        const stored = await plants.get(1n)
        assert.deepEqual('plant' in changed && changed.plant, stored)
        assert.deepEqual([stored?.name, stored?.tag], [name, tag])
        assert.equal(Object.hasOwn(stored ?? {}, 'tag'), tag !== undefined)
      }
    })

    test('an update of a plant that does not exist creates nothing', async () => {
      const { plants } = shared
      assert.deepEqual(await plants.update(1n, { name: 'Rosa' }), { outcome: 'absent' })
      assert.deepEqual(await plants.update(1n, {}, { ifMatch: 'any' }), { outcome: 'absent' })
      assert.equal(await plants.get(1n), undefined)
    })
  })

  describe('delete', () => {
    test('a plant is deleted once, and its id is free again', async () => {
      const { plants } = shared
      for (const id of NOTABLE_IDS) {
        await planted(plants, id)
        assert.deepEqual(await plants.delete(id), { outcome: 'deleted' })
        assert.deepEqual(await plants.delete(id), { outcome: 'absent' })
        assert.equal(await plants.get(id), undefined)
        assert.equal((await plants.create({ id, name: 'another' })).outcome, 'created')
      }
    })
  })

  describe('preconditions', () => {
    test('ifMatch holds for any plant, or for the given versions only', async () => {
      const { plants } = shared
      const { version: first } = await planted(plants, 1n)
      const changed = await plants.update(1n, { tag: 'a' }, { ifMatch: [first] })
      assert.equal(changed.outcome, 'updated')
      const second = 'plant' in changed ? changed.plant.version : 0
      assert.deepEqual(await plants.update(1n, { tag: 'b' }, { ifMatch: [first] }), { outcome: 'mismatch' })
      assert.deepEqual(await plants.update(1n, { tag: 'b' }, { ifMatch: [] }), { outcome: 'mismatch' })
      assert.deepEqual(await plants.replace(1n, { name: 'b' }, { ifMatch: [first] }), { outcome: 'mismatch' })
      assert.deepEqual(await plants.delete(1n, { ifMatch: [first - 1, first] }), { outcome: 'mismatch' })
      assert.deepEqual((await plants.get(1n))?.tag, 'a')
      const replaced = await plants.replace(1n, { name: 'c' }, { ifMatch: [first, second] })
      assert.equal(replaced.outcome, 'replaced')
      assert.equal((await plants.update(1n, { tag: 'd' }, { ifMatch: 'any' })).outcome, 'updated')
      assert.equal((await plants.delete(1n, { ifMatch: 'any' })).outcome, 'deleted')
    })

    test('ifMatch fails if there is no plant', async () => {
      const { plants } = shared
      assert.deepEqual(await plants.replace(1n, { name: 'a' }, { ifMatch: 'any' }), { outcome: 'mismatch' })
      assert.deepEqual(await plants.replace(1n, { name: 'a' }, { ifMatch: [0] }), { outcome: 'mismatch' })
      assert.deepEqual(await plants.delete(1n, { ifMatch: 'any' }), { outcome: 'absent' })
      assert.equal(await plants.get(1n), undefined)
    })

    test('ifNoneMatch any allows a create, and no change', async () => {
      const { plants } = shared
      const onlyNew = { ifNoneMatch: 'any' } as const
      assert.equal((await plants.replace(1n, { name: 'new' }, onlyNew)).outcome, 'created')
      assert.deepEqual(await plants.replace(1n, { name: 'newer' }, onlyNew), { outcome: 'mismatch' })
      assert.deepEqual(await plants.update(1n, { name: 'newer' }, onlyNew), { outcome: 'mismatch' })
      assert.deepEqual(await plants.delete(1n, onlyNew), { outcome: 'mismatch' })
      assert.equal((await plants.get(1n))?.name, 'new')
    })

    test('ifNoneMatch with versions fails for those and holds for others', async () => {
      const { plants } = shared
      const { version } = await planted(plants, 1n)
      const outcome = await plants.update(1n, { tag: 'a' }, { ifNoneMatch: [version - 1, version] })
      assert.deepEqual(outcome, { outcome: 'mismatch' })
      assert.equal((await plants.delete(1n, { ifNoneMatch: [version - 1] })).outcome, 'deleted')
    })

    test('both preconditions must hold', async () => {
      const { plants } = shared
      const { version } = await planted(plants, 1n)
      const both = { ifMatch: [version], ifNoneMatch: [version] }
      assert.deepEqual(await plants.delete(1n, both), { outcome: 'mismatch' })
      assert.equal((await plants.delete(1n, { ...both, ifNoneMatch: [] })).outcome, 'deleted')
    })

    test('exactly one of several concurrent updates of one version succeeds', async () => {
      const { plants } = shared
      const { version } = await planted(plants, 1n)
      const outcomes = await Promise.all(
        Array.from({ length: 50 }, (_, at) =>
          plants.update(1n, { name: `change ${at}` }, { ifMatch: [version] }),
        ),
      )
      assert.deepEqual(
        outcomes.map(({ outcome }) => outcome),
        ['updated', ...Array<string>(49).fill('mismatch')],
      )
      assert.equal((await plants.get(1n))?.name, 'change 0')
    })
  })
}
