import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type BatchContext, keyOf, planBatch } from '../../../src/storage/batching/plan-batch.ts'
import type { SingleWrite } from '../../../src/storage/batching/plant-write.ts'
import { create, KEY, remove, replace, STORED, TTL_MS, update } from './example-writes.ts'

describe('the plan of a batch', () => {
  function plan(batch: readonly SingleWrite[], context: Partial<BatchContext> = {}) {
    return planBatch(batch, { plants: new Map(), keys: new Map(), idempotencyTtlMs: TTL_MS, ...context })
  }

  const namesOf = (outcomes: readonly { outcome: string }[]) => outcomes.map(({ outcome }) => outcome)

  test('has an outcome for each write, in order, and writes each plant once', () => {
    const { outcomes, written, newKeys } = plan([create(), create({ id: 2n }), remove({ id: 3n })])
    assert.deepEqual(namesOf(outcomes), ['created', 'created', 'absent'])
    assert.deepEqual([...written.keys()], [1n, 2n])
    assert.deepEqual(newKeys, [])
  })

  test('lets writes to one id see each other in order', () => {
    const { outcomes, written } = plan([
      create({ version: 11 }),
      create({ version: 12 }),
      update({ change: { tag: 'shrub' }, version: 13, atMs: 5_000, precondition: { ifMatch: [11] } }),
      update({ version: 14, precondition: { ifMatch: [11] } }),
      replace({ version: 15, atMs: 4_000, precondition: { ifMatch: [13] } }),
    ])
    assert.deepEqual(namesOf(outcomes), ['created', 'taken', 'updated', 'mismatch', 'replaced'])
    const plant = { id: 1n, name: 'Rosa alba', createdAtMs: 3_000, updatedAtMs: 5_000, version: 15 }
    assert.deepEqual([...written], [[1n, plant]])
  })

  test('prefers what the batch has written to what is stored', () => {
    const { outcomes, written } = plan(
      [update({ version: 9, precondition: { ifMatch: [7] } }), remove({ precondition: { ifMatch: [9] } })],
      { plants: new Map([[1n, STORED]]) },
    )
    assert.deepEqual(namesOf(outcomes), ['updated', 'deleted'])
    assert.deepEqual([...written], [[1n, undefined]])
  })

  test('deletes a plant that it has created, and may create it again', () => {
    const deleted = plan([create(), remove(), remove(), update()])
    assert.deepEqual(namesOf(deleted.outcomes), ['created', 'deleted', 'absent', 'absent'])
    assert.deepEqual([...deleted.written], [[1n, undefined]])
    const again = plan([remove(), create({ atMs: 1_500, version: 9 })], { plants: new Map([[1n, STORED]]) })
    assert.deepEqual(namesOf(again.outcomes), ['deleted', 'created'])
    // A new plant: neither its times nor its tag are those of the deleted one.
    const plant = { id: 1n, name: 'Rosa alba', createdAtMs: 1_500, updatedAtMs: 1_500, version: 9 }
    assert.deepEqual([...again.written], [[1n, plant]])
  })

  test('writes nothing for writes that change nothing', () => {
    const { written, newKeys } = plan(
      [create({ idempotency: KEY }), update({ precondition: { ifMatch: [6] } }), remove({ id: 2n })],
      { plants: new Map([[1n, STORED]]) },
    )
    assert.deepEqual([written.size, newKeys], [0, []])
  })

  test('creates once for a key that is repeated in it, with one outcome', () => {
    const { outcomes, written, newKeys } = plan([
      create({ idempotency: KEY, version: 11 }),
      create({ idempotency: KEY, version: 12 }),
      remove(),
      create({ idempotency: KEY, version: 13 }),
      create({ id: 2n, idempotency: { ...KEY, fingerprint: 'two' } }),
    ])
    const created = { outcome: 'created', version: 11 }
    assert.deepEqual(outcomes, [created, created, { outcome: 'deleted' }, created, { outcome: 'key-reused' }])
    assert.deepEqual([...written], [[1n, undefined]])
    assert.deepEqual(newKeys, [{ idempotency: KEY, version: 11, atMs: 3_000 }])
  })

  test('keeps the keys of different callers, and different keys, apart', () => {
    const keys = [KEY, { ...KEY, caller: 'other' }, { ...KEY, key: 'key-2' }, { ...KEY, key: 'KEY-1' }]
    const { outcomes, newKeys } = plan(keys.map((idempotency, at) => create({ id: BigInt(at), idempotency })))
    assert.deepEqual(namesOf(outcomes), ['created', 'created', 'created', 'created'])
    assert.deepEqual(
      newKeys.map(({ idempotency }) => idempotency),
      keys,
    )
  })

  test('uses the stored keys until they expire, then replaces them', () => {
    const keys = new Map([[keyOf(KEY), { fingerprint: 'one', version: 5, createdAtMs: 2_000 }]])
    const late = { idempotency: KEY, atMs: 2_001 + TTL_MS }
    const { outcomes, newKeys } = plan(
      [create({ idempotency: KEY }), create({ ...late, version: 9 }), create({ ...late, version: 10 })],
      { keys },
    )
    assert.deepEqual(outcomes, [
      { outcome: 'created', version: 5 },
      { outcome: 'created', version: 9 },
      { outcome: 'created', version: 9 },
    ])
    assert.deepEqual(newKeys, [{ idempotency: KEY, version: 9, atMs: late.atMs }])
    assert.equal(keys.get(keyOf(KEY))?.version, 5, 'the stored keys are unchanged')
  })
})
