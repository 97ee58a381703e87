import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { planWrite, type StoredKey, type WriteContext } from '../../../src/storage/batching/plan-batch.ts'
import { create, KEY, remove, replace, STORED, TTL_MS, update } from './example-writes.ts'

function contextOf(context: Partial<WriteContext> = {}): WriteContext {
  return { plant: undefined, key: undefined, idempotencyTtlMs: TTL_MS, ...context }
}

describe('the plan of a create', () => {
  test('stores a new plant under a free id', () => {
    const plant = { id: 1n, name: 'Rosa alba', createdAtMs: 3_000, updatedAtMs: 3_000, version: 8 }
    assert.deepEqual(planWrite(create(), contextOf()), {
      outcome: { outcome: 'created', version: 8 },
      written: { plant },
    })
  })

  test('changes nothing if the id is taken, and does not use up its key', () => {
    for (const write of [create(), create({ idempotency: KEY })]) {
      assert.deepEqual(planWrite(write, contextOf({ plant: STORED })), { outcome: { outcome: 'taken' } })
    }
  })

  test('stores its key with the version of its plant', () => {
    const { newKey } = planWrite(create({ idempotency: KEY }), contextOf())
    assert.deepEqual(newKey, { idempotency: KEY, version: 8, atMs: 3_000 })
  })

  test('with a stored key has the first outcome and changes nothing, even if the plant is gone', () => {
    const key: StoredKey = { fingerprint: 'one', version: 5, createdAtMs: 2_500 }
    for (const plant of [STORED, undefined]) {
      assert.deepEqual(planWrite(create({ idempotency: KEY }), contextOf({ plant, key })), {
        outcome: { outcome: 'created', version: 5 },
      })
    }
  })

  test('with a key of another fingerprint is rejected, whether its id is free or taken', () => {
    const key: StoredKey = { fingerprint: 'two', version: 5, createdAtMs: 2_500 }
    for (const plant of [STORED, undefined]) {
      assert.deepEqual(planWrite(create({ idempotency: KEY }), contextOf({ plant, key })), {
        outcome: { outcome: 'key-reused' },
      })
    }
  })

  test('ignores a key once it has expired, whatever its fingerprint, and stores it again', () => {
    const atMs = 100_000
    for (const fingerprint of ['one', 'two']) {
      const planAt = (createdAtMs: number) =>
        planWrite(
          create({ idempotency: KEY, atMs }),
          contextOf({ key: { fingerprint, version: 5, createdAtMs } }),
        )
      const valid = planAt(atMs - TTL_MS)
      assert.equal(valid.written, undefined)
      assert.equal(valid.newKey, undefined)
      const expired = planAt(atMs - TTL_MS - 1)
      assert.deepEqual(expired.outcome, { outcome: 'created', version: 8 })
      assert.deepEqual(expired.newKey, { idempotency: KEY, version: 8, atMs })
    }
  })

  test('finds the id taken if its key has expired', () => {
    const key: StoredKey = { fingerprint: 'one', version: 5, createdAtMs: 2_000 }
    const write = create({ idempotency: KEY, atMs: 2_001 + TTL_MS })
    assert.deepEqual(planWrite(write, contextOf({ plant: STORED, key })), { outcome: { outcome: 'taken' } })
  })
})

describe('the plan of a replace, an update or a delete', () => {
  test('changes nothing if a precondition fails', () => {
    for (const write of [replace, update, remove]) {
      for (const precondition of [
        { ifMatch: [6, 8] },
        { ifMatch: [] },
        { ifNoneMatch: [6, 7] },
        { ifNoneMatch: 'any' as const },
        { ifMatch: [7], ifNoneMatch: [7] },
      ]) {
        assert.deepEqual(planWrite(write({ precondition }), contextOf({ plant: STORED })), {
          outcome: { outcome: 'mismatch' },
        })
      }
    }
  })

  test('writes if every precondition holds', () => {
    for (const write of [replace, update, remove]) {
      for (const precondition of [
        {},
        { ifMatch: [6, 7] },
        { ifMatch: 'any' as const },
        { ifMatch: [7], ifNoneMatch: [8] },
      ]) {
        const { outcome, written } = planWrite(write({ precondition }), contextOf({ plant: STORED }))
        assert.notEqual(outcome.outcome, 'mismatch')
        assert.notEqual(written, undefined)
      }
    }
  })

  test('without a plant only creates by a replace that does not require one', () => {
    const plant = { id: 1n, name: 'Rosa alba', createdAtMs: 3_000, updatedAtMs: 3_000, version: 8 }
    for (const precondition of [{}, { ifNoneMatch: 'any' as const }, { ifNoneMatch: [7] }]) {
      assert.deepEqual(planWrite(replace({ precondition }), contextOf()), {
        outcome: { outcome: 'created', plant },
        written: { plant },
      })
    }
    for (const ifMatch of ['any' as const, [7]]) {
      assert.deepEqual(planWrite(replace({ precondition: { ifMatch } }), contextOf()), {
        outcome: { outcome: 'mismatch' },
      })
    }
    for (const write of [update, remove]) {
      for (const precondition of [{}, { ifMatch: 'any' as const }]) {
        assert.deepEqual(planWrite(write({ precondition }), contextOf()), { outcome: { outcome: 'absent' } })
      }
    }
  })

  test('replaces the whole content and keeps the time of creation', () => {
    const plant = { id: 1n, name: 'Rosa alba', createdAtMs: 1_000, updatedAtMs: 3_000, version: 8 }
    assert.deepEqual(planWrite(replace(), contextOf({ plant: STORED })), {
      outcome: { outcome: 'replaced', plant },
      written: { plant },
    })
  })

  test('updates only the given members, and removes one that is null', () => {
    const times = { createdAtMs: 1_000, updatedAtMs: 3_000 }
    for (const [change, content] of [
      [{}, { name: 'Rosa', tag: 'shrub' }],
      [{ name: '' }, { name: '', tag: 'shrub' }],
      [{ tag: '' }, { name: 'Rosa', tag: '' }],
      [{ tag: null }, { name: 'Rosa' }],
    ] as const) {
      const plant = { id: 1n, ...content, ...times, version: 8 }
      assert.deepEqual(planWrite(update({ change }), contextOf({ plant: STORED })), {
        outcome: { outcome: 'updated', plant },
        written: { plant },
      })
    }
  })

  test('never sets a time back, even if the clock was', () => {
    for (const write of [replace({ atMs: 500 }), update({ atMs: 500 })]) {
      const plant = planWrite(write, contextOf({ plant: STORED })).written?.plant
      assert.deepEqual([plant?.createdAtMs, plant?.updatedAtMs, plant?.version], [1_000, 2_000, 8])
    }
  })

  test('leaves the stored plant itself unchanged', () => {
    const stored = Object.freeze({ ...STORED })
    for (const write of [replace(), update({ change: { tag: null } }), remove()]) {
      planWrite(write, contextOf({ plant: stored }))
    }
    assert.deepEqual(stored, STORED)
  })
})
