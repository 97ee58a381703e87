import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { PlantStore } from '../../src/plants/plant-store.ts'
import { type OpenStorage, shareStorage } from './opened-storage.ts'

async function versionOf(plants: PlantStore, id: bigint): Promise<number> {
  const plant = await plants.get(id)
  assert.ok(plant)
  return plant.version
}

/** Changes plant 1 in each way there is, and checks that every version is a new one. */
async function checkThatVersionsDiffer(plants: PlantStore, afterEach: () => void = () => {}): Promise<void> {
  const versions = new Set([await versionOf(plants, 1n)])
  const edits = [
    () => plants.update(1n, { name: 'updated' }),
    () => plants.update(1n, {}),
    () => plants.replace(1n, { name: 'replaced' }),
    () => plants.update(1n, { tag: 'tagged' }),
  ]
  for (const edit of [...edits, ...edits]) {
    afterEach()
    const edited = await edit()
    const next = await versionOf(plants, 1n)
    assert.ok(!versions.has(next), `${next} is new`)
    assert.equal('plant' in edited && edited.plant.version, next)
    versions.add(next)
  }
}

export function describeVersions(open: OpenStorage): void {
  describe('versions', () => {
    // Its clock is turned back, which the tests of others do not expect.
    const shared = shareStorage(open)

    test('every write creates a new version while the clock stands still', async () => {
      const { plants } = shared
      await plants.create({ id: 1n, name: 'Rosa' })
      await checkThatVersionsDiffer(plants)
    })

    test('every write creates a new version while the clock goes backward, and stored times never go back', async () => {
      const { plants, clock } = shared
      await plants.create({ id: 1n, name: 'Rosa' })
      await checkThatVersionsDiffer(plants, () => clock.advance(-1000))
      const plant = await plants.get(1n)
      assert.equal(plant?.updatedAtMs, plant?.createdAtMs)
    })

    test('concurrent writes have a version each', async () => {
      const { plants } = shared
      await plants.create({ id: 1n, name: 'Rosa' })
      const changes = await Promise.all(
        Array.from({ length: 500 }, (_, at) => plants.update(1n, { name: `Rosa ${at}` })),
      )
      const versions = changes.map((change) => ('plant' in change ? change.plant.version : 0))
      assert.equal(new Set(versions).size, 500)
      assert.equal(await versionOf(plants, 1n), versions.at(-1))
    })

    test('a plant that is created again after a deletion has a new version', async () => {
      const { plants, clock } = shared
      const create = () => plants.create({ id: 1n, name: 'Rosa' })
      const replace = () => plants.replace(1n, { name: 'Rosa' })
      const versions = new Set<number>()
      for (const make of [create, create, replace, create, replace, replace]) {
        const made = await make()
        const version = await versionOf(plants, 1n)
        assert.ok(!versions.has(version), `${version} is new`)
        if ('version' in made) assert.equal(made.version, version)
        if ('plant' in made) assert.deepEqual(made.plant, await plants.get(1n))
        await plants.update(1n, { name: 'Rosa alba' })
        versions.add(version)
        versions.add(await versionOf(plants, 1n))
        await plants.delete(1n)
        clock.advance(-1)
      }
    })

    test('a plant that is deleted and created again in one batch has a new version', async () => {
      const { plants } = shared
      const [first, , second] = await Promise.all([
        plants.create({ id: 1n, name: 'old' }),
        plants.delete(1n),
        plants.create({ id: 1n, name: 'new' }),
      ])
      assert.ok('version' in first && 'version' in second)
      assert.notEqual(second.version, first.version)
      assert.deepEqual(await plants.update(1n, { name: 'lost' }, { ifMatch: [first.version] }), {
        outcome: 'mismatch',
      })
    })
  })
}
