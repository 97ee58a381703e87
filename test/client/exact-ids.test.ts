import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { newPlantJson, parseWithIdTexts, plantJson, withExactId } from '../../src/client/exact-ids.ts'
import { storedPlantJson } from '../../src/plants/plant-json.ts'
import { cpuTimeMs } from '../support/process/cpu-time.ts'

const INT64 = fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n)
const TEXT = fc.oneof(
  fc.string(),
  fc.constantFrom('"id":1', '\\', '\\"', '{"id":9007199254740993,', '"id"', ',"id":', 'id', '\u2028'),
)
const PLANT = fc.record(
  { id: INT64, name: TEXT, tag: TEXT },
  { requiredKeys: ['id', 'name'], noNullPrototype: true },
)

test('any plant of the service is parsed exactly, alone or in a list', () => {
  fc.assert(
    fc.property(fc.array(PLANT), (plants) => {
      const stored = plants.map((plant) => ({ ...plant, createdAtMs: 0, updatedAtMs: 1, version: 1 }))
      const parsed = parseWithIdTexts(`[${stored.map(storedPlantJson).join(',')}]`)
      const read = (parsed as unknown[]).map((one) => withExactId(one))
      const times = { createdAt: '1970-01-01T00:00:00.000Z', updatedAt: '1970-01-01T00:00:00.001Z' }
      assert.deepEqual(
        read,
        plants.map((plant) => ({ ...plant, ...times })),
      )
    }),
  )
})

test('any plant is written as the same JSON, with all digits of its id', () => {
  fc.assert(
    fc.property(PLANT, (plant) => {
      const json = newPlantJson(plant)
      assert.ok(json.startsWith(`{"id":${plant.id},"name":`))
      assert.deepEqual(withExactId(parseWithIdTexts(json)), plant)
      assert.ok(!json.includes('\n'))
      const { id, ...rest } = plant
      assert.deepEqual(JSON.parse(plantJson(plant)), rest)
    }),
  )
})

test('JSON without ids is parsed as by JSON.parse, whatever its white space', () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom('', ' ', '\n\t'), (json, space) => {
      const spaced = JSON.stringify(JSON.parse(json), undefined, space)
      assert.deepEqual(parseWithIdTexts(spaced), JSON.parse(spaced))
    }),
  )
  assert.deepEqual(parseWithIdTexts('{ "id" : -9007199254740993 }'), { id: '-9007199254740993' })
  assert.throws(() => parseWithIdTexts('{"id":1'), SyntaxError)
})

test('a long text is parsed quickly and without recursion', async () => {
  const name = '\\"id":1,'.repeat(1_000_000)
  const tookMs = await cpuTimeMs(() => {
    assert.deepEqual(withExactId(parseWithIdTexts(newPlantJson({ id: 1n, name }))), { id: 1n, name })
  })
  assert.ok(tookMs < 2_000, `${tookMs} ms`)
})
