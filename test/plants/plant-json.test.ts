import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { storedPlantJson } from '../../src/plants/plant-json.ts'
import { TIME_MS_MAX, TIME_MS_MIN } from '../../src/plants/time-text.ts'

/** RFC 3339 has years of four digits. */
const times = fc
  .date({ noInvalidDate: true, min: new Date(TIME_MS_MIN), max: new Date(TIME_MS_MAX) })
  .map((date) => date.getTime())

test('times equal those of toISOString, in any order', () => {
  fc.assert(
    fc.property(times, times, (createdAtMs, updatedAtMs) => {
      const json = storedPlantJson({ id: 1n, name: '', createdAtMs, updatedAtMs, version: 0 })
      assert.deepEqual(JSON.parse(json), {
        id: 1,
        name: '',
        createdAt: new Date(createdAtMs).toISOString(),
        updatedAt: new Date(updatedAtMs).toISOString(),
      })
    }),
  )
})

test('id, name and tag are exact', () => {
  const plant = {
    id: -9223372036854775808n,
    name: '"×\u2028',
    tag: '\\',
    createdAtMs: 0,
    updatedAtMs: 0,
    version: 0,
  }
  const json = storedPlantJson(plant)
  assert.match(json, /^\{"id":-9223372036854775808,/)
  const { name, tag } = JSON.parse(json)
  assert.deepEqual({ name, tag }, { name: plant.name, tag: plant.tag })
})
