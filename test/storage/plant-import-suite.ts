import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { NewPlant } from '../../src/plants/plant.ts'
import {
  IMPORT_CHUNK_PLANTS_MAX,
  type ImportOptions,
  type ImportOutcome,
  type PlantStore,
} from '../../src/plants/plant-store.ts'
import { keepTrying } from '../support/keep-trying.ts'
import { NOTABLE_IDS } from './notable-ids.ts'
import type { SharedStorage } from './opened-storage.ts'

const KEEP: ImportOptions = { onConflict: 'keep', dryRun: false }
const REPLACE: ImportOptions = { onConflict: 'replace', dryRun: false }

/** Imports steps one after another, and gives the outcomes of each. */
async function importChunks(
  plants: PlantStore,
  options: ImportOptions,
  ...steps: NewPlant[][]
): Promise<ImportOutcome[][]> {
  const importing = plants.openImport(options)
  try {
    const outcomes: ImportOutcome[][] = []
    for (const step of steps) outcomes.push(await importing.add(step))
    return outcomes
  } finally {
    await importing.close()
  }
}

const plantsFrom = (firstId: number, count: number, name: string): NewPlant[] =>
  Array.from({ length: count }, (_, at) => ({ id: BigInt(firstId + at), name: `${name} ${at}` }))

async function namesOf(plants: PlantStore): Promise<[bigint, string][]> {
  return (await plants.list({ limit: 1000 })).plants.map(({ id, name }) => [id, name])
}

export function describeImports(shared: SharedStorage): void {
  describe('import', () => {
    test('an imported plant is read back complete at once, like a created one', async () => {
      const { plants, clock } = shared
      const outcomes = await importChunks(plants, KEEP, [
        { id: 7n, name: 'Quercus robur', tag: 'tree' },
        { id: 3n, name: 'Rosa' },
        { id: 4n, name: '', tag: '' },
      ])
      assert.deepEqual(outcomes, [['created', 'created', 'created']])
      const times = { createdAtMs: clock.nowMs(), updatedAtMs: clock.nowMs() }
      const stored = await plants.get(7n)
      assert.deepEqual(stored, {
        ...{ id: 7n, name: 'Quercus robur', tag: 'tree', ...times },
        version: stored?.version,
      })
      assert.equal(Object.hasOwn((await plants.get(3n)) ?? {}, 'tag'), false)
      assert.equal((await plants.get(4n))?.tag, '')
      const versions = (await plants.list({ limit: 10 })).plants.map(({ version }) => version)
      assert.equal(new Set(versions).size, 3)
      assert.deepEqual(await plants.countTags(10), [
        { tag: '', count: 1 },
        { tag: 'tree', count: 1 },
      ])
    })

    test('keep leaves plants with taken ids as they are, stores the others and reports outcomes in order', async () => {
      const { plants, clock } = shared
      for (const id of [2n, 4n]) await plants.create({ id, name: 'was here before', tag: 'old' })
      const before = [await plants.get(2n), await plants.get(4n)]
      clock.advance(1000)
      const [outcomes] = await importChunks(plants, KEEP, plantsFrom(1, 5, 'new').toReversed())
      assert.deepEqual(outcomes, ['created', 'kept', 'created', 'kept', 'created'])
      assert.deepEqual([await plants.get(2n), await plants.get(4n)], before)
      assert.equal((await plants.get(5n))?.name, 'new 4')
    })

    test('replace stores the whole plant with a new version and the old time of creation', async () => {
      const { plants, clock } = shared
      await plants.create({ id: 1n, name: 'old', tag: 'old' })
      const before = await plants.get(1n)
      clock.advance(1000)
      const [outcomes] = await importChunks(plants, REPLACE, [
        { id: 1n, name: 'new' },
        { id: 2n, name: 'other' },
      ])
      assert.deepEqual(outcomes, ['replaced', 'created'])
      const after = await plants.get(1n)
      assert.deepEqual(after, {
        ...{ id: 1n, name: 'new', createdAtMs: before?.createdAtMs, updatedAtMs: clock.nowMs() },
        version: after?.version,
      })
      assert.notEqual(after?.version, before?.version)
    })

    test('the times of a replaced plant never go back, even if the clock was set back', async () => {
      const { plants, clock } = shared
      await plants.create({ id: 1n, name: 'old' })
      const before = await plants.get(1n)
      clock.advance(-500)
      await importChunks(plants, REPLACE, [{ id: 1n, name: 'new' }])
      clock.advance(500)
      assert.equal((await plants.get(1n))?.name, 'new')
      assert.equal((await plants.get(1n))?.updatedAtMs, before?.updatedAtMs)
    })

    test('a repeated id counts as taken, in the same chunk or the next', async () => {
      const { plants } = shared
      const steps = [
        [
          { id: 1n, name: 'a' },
          { id: 2n, name: 'b' },
          { id: 1n, name: 'c', tag: 'last' },
          { id: 1n, name: 'd' },
        ],
        [
          { id: 2n, name: 'e' },
          { id: 3n, name: 'f' },
          { id: 3n, name: 'g' },
        ],
      ]
      assert.deepEqual(await importChunks(plants, KEEP, ...steps), [
        ['created', 'created', 'kept', 'kept'],
        ['kept', 'created', 'kept'],
      ])
      assert.deepEqual(await namesOf(plants), [
        [1n, 'a'],
        [2n, 'b'],
        [3n, 'f'],
      ])
      for (const id of [1n, 2n, 3n]) await plants.delete(id)
      assert.deepEqual(await importChunks(plants, REPLACE, ...steps), [
        ['created', 'created', 'replaced', 'replaced'],
        ['replaced', 'created', 'replaced'],
      ])
      assert.deepEqual(await namesOf(plants), [
        [1n, 'd'],
        [2n, 'e'],
        [3n, 'g'],
      ])
      assert.equal(Object.hasOwn((await plants.get(1n)) ?? {}, 'tag'), false)
    })

    for (const onConflict of ['keep', 'replace'] as const) {
      test(`a dry run responds as the import does and stores nothing (${onConflict})`, async () => {
        const { plants } = shared
        for (const id of [5n, 1500n, NOTABLE_IDS[0] as bigint]) await plants.create({ id, name: 'before' })
        const before = await plants.list({ limit: 1000 })
        const steps = [
          plantsFrom(1, 1000, 'first'),
          [...NOTABLE_IDS, 7n, 2500n, 2500n].map((id) => ({ id, name: 'second' })),
          plantsFrom(900, 1000, 'third'),
          [],
        ]
        const expected = await importChunks(plants, { onConflict, dryRun: true }, ...steps)
        assert.deepEqual(await plants.list({ limit: 1000 }), before)
        assert.deepEqual(await importChunks(plants, { onConflict, dryRun: false }, ...steps), expected)
        assert.equal(expected.flat().filter((outcome) => outcome === 'created').length, 1911)
      })
    }

    test('any id and any text are stored as sent', async () => {
      const { plants } = shared
      const texts = [
        ...['', 'NULL', '"', '\\', '\\"', "'", '{a,b}', '{}', ',', '$1', 'a\tb\nc\rd', ' spaces '],
        ...['\u{10ffff}', '\uffff', '\u0001', '🌱é', 'e\u0301', '\\N', '\\x41', '日本の桜'],
      ]
      const sent = NOTABLE_IDS.flatMap((id, at) => ({ id, name: texts[at % texts.length] as string }))
      const tagged = texts.map((tag, at) => ({ id: BigInt(1000 + at), name: tag, tag }))
      for (const options of [KEEP, REPLACE, REPLACE])
        await importChunks(plants, options, [...sent, ...tagged])
      for (const plant of [...sent, ...tagged]) {
        const { id, name, tag } = (await plants.get(plant.id)) ?? {}
        assert.deepEqual({ id, name, ...(tag !== undefined && { tag }) }, plant)
      }
    })

    test('a chunk of very long texts is stored as one chunk', async () => {
      const { plants } = shared
      const long = Array.from({ length: 12 }, (_, at) => ({
        id: BigInt(at),
        name: `${at} ${'\u{10ffff}'.repeat(400_000)}`,
        tag: 't'.repeat(100_000),
      }))
      for (const options of [KEEP, REPLACE]) {
        const [outcomes] = await importChunks(plants, options, [...long, { id: 5n, name: 'short' }])
        assert.equal(outcomes?.length, 13)
        assert.equal((await plants.get(11n))?.name, long[11]?.name)
      }
      assert.equal((await plants.get(5n))?.name, 'short')
    })

    test('a chunk may be empty or of the maximum size; a larger one is rejected as a whole', async () => {
      const { plants } = shared
      const most = plantsFrom(0, IMPORT_CHUNK_PLANTS_MAX, 'Rosa')
      for (const dryRun of [true, false]) {
        const importing = plants.openImport({ onConflict: 'keep', dryRun })
        assert.deepEqual(await importing.add([]), [])
        await assert.rejects(importing.add([...most, { id: -1n, name: 'one more' }]), RangeError)
        assert.deepEqual(await plants.list({ limit: 1 }), { plants: [], hasMore: false })
        assert.equal((await importing.add(most)).length, IMPORT_CHUNK_PLANTS_MAX)
        await importing.close()
      }
      assert.equal((await plants.list({ limit: 2000 })).plants.length, IMPORT_CHUNK_PLANTS_MAX)
    })

    test('imported plants are found by their names, replaced ones by the new ones', async () => {
      const { plants } = shared
      const found = async (word: string) =>
        (await plants.list({ limit: 1000, words: [word] })).plants.map(({ id }) => id)
      await importChunks(plants, KEEP, plantsFrom(0, 500, 'Rosa'))
      await keepTrying(async () => assert.equal((await found('rosa')).length, 500))
      await importChunks(plants, REPLACE, plantsFrom(250, 500, 'Iris'))
      assert.equal((await found('rosa')).length, 250)
      await keepTrying(async () => assert.equal((await found('iris')).length, 500))
    })
  })
}
