import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import type { Idempotency } from '../../src/plants/plant-store.ts'
import { type OpenStorage, shareStorage } from './opened-storage.ts'

const KEY: Idempotency = { caller: 'gardener', key: 'key-1', fingerprint: 'one' }
const TTL_MS = 60_000

export function describeIdempotency(open: OpenStorage): void {
  describe('idempotency', () => {
    const shared = shareStorage(open, { idempotencyTtlMs: TTL_MS })
    // Keys outlive the plants of a test.
    beforeEach(() => shared.clock.advance(TTL_MS + 1))

    test('a repeated key and fingerprint have the first response', async () => {
      const { plants, clock } = shared
      const first = await plants.create({ id: 1n, name: 'Rosa' }, KEY)
      assert.equal(first.outcome, 'created')
      clock.advance(1000)
      assert.deepEqual(await plants.create({ id: 1n, name: 'Rosa' }, KEY), first)
      assert.equal((await plants.list({ limit: 10 })).plants.length, 1)
    })

    test('a replay changes nothing, whatever was done to the plant', async () => {
      const { plants } = shared
      const first = await plants.create({ id: 1n, name: 'Rosa' }, KEY)
      await plants.update(1n, { name: 'Rosa alba' })
      assert.deepEqual(await plants.create({ id: 1n, name: 'Rosa' }, KEY), first)
      assert.equal((await plants.get(1n))?.name, 'Rosa alba')
      await plants.delete(1n)
      assert.deepEqual(await plants.create({ id: 1n, name: 'Rosa' }, KEY), first)
      assert.equal(await plants.get(1n), undefined)
    })

    test('a key with another fingerprint is rejected, and stores nothing', async () => {
      const { plants } = shared
      await plants.create({ id: 1n, name: 'Rosa' }, KEY)
      assert.deepEqual(await plants.create({ id: 2n, name: 'Rosa' }, { ...KEY, fingerprint: 'two' }), {
        outcome: 'key-reused',
      })
      assert.equal(await plants.get(2n), undefined)
    })

    test('keys of different callers, and different keys of one caller, are independent', async () => {
      const { plants } = shared
      const others = [
        KEY,
        { ...KEY, caller: 'other' },
        { ...KEY, key: 'key-2' },
        { ...KEY, key: 'KEY-1' },
        // A store that joined caller and key with nothing, or with a character, between them would mix these
        // up.
        { ...KEY, caller: 'a', key: 'bc' },
        { ...KEY, caller: 'ab', key: 'c' },
        { ...KEY, caller: 'a b', key: 'c' },
        { ...KEY, caller: 'a', key: 'b c' },
        { ...KEY, caller: '', key: 'k'.repeat(255) },
      ]
      for (const [at, idempotency] of others.entries()) {
        const plant = { id: BigInt(at), name: 'Rosa' }
        const created = await plants.create(plant, { ...idempotency, fingerprint: String(at) })
        assert.equal(created.outcome, 'created')
        assert.notEqual(await plants.get(BigInt(at)), undefined)
      }
    })

    test('a create that failed does not use up its key', async () => {
      const { plants } = shared
      await plants.create({ id: 1n, name: 'was here before' })
      assert.deepEqual(await plants.create({ id: 1n, name: 'Rosa' }, KEY), { outcome: 'taken' })
      assert.deepEqual(await plants.create({ id: 1n, name: 'Rosa' }, KEY), { outcome: 'taken' })
      const other = await plants.create({ id: 2n, name: 'Rosa' }, { ...KEY, fingerprint: 'two' })
      assert.equal(other.outcome, 'created')
      assert.deepEqual(await plants.create({ id: 1n, name: 'Rosa' }, KEY), { outcome: 'key-reused' })
    })

    test('a key is retained until it expires', async () => {
      const { plants, clock } = shared
      const first = await plants.create({ id: 1n, name: 'Rosa' }, KEY)
      clock.advance(TTL_MS)
      assert.deepEqual(await plants.create({ id: 1n, name: 'Rosa' }, KEY), first)
      clock.advance(1)
      assert.deepEqual(await plants.create({ id: 1n, name: 'Rosa' }, KEY), { outcome: 'taken' })
      const second = await plants.create({ id: 2n, name: 'Lilium' }, { ...KEY, fingerprint: 'two' })
      assert.equal(second.outcome, 'created')
      assert.deepEqual(
        await plants.create({ id: 2n, name: 'Lilium' }, { ...KEY, fingerprint: 'two' }),
        second,
      )
      // The time runs from the new use of the key on; a repetition does not prolong it.
      clock.advance(TTL_MS)
      assert.deepEqual(
        await plants.create({ id: 2n, name: 'Lilium' }, { ...KEY, fingerprint: 'two' }),
        second,
      )
      clock.advance(1)
      const third = await plants.create({ id: 3n, name: 'Iris' }, { ...KEY, fingerprint: 'three' })
      assert.equal(third.outcome, 'created')
    })

    test('one of several concurrent creates with one key is performed, and all have its response', async () => {
      const { plants } = shared
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, () => plants.create({ id: 1n, name: 'Rosa' }, KEY)),
      )
      for (const outcome of outcomes) assert.deepEqual(outcome, outcomes[0])
      assert.equal(outcomes[0]?.outcome, 'created')
      const mixed = await Promise.all(
        Array.from({ length: 20 }, (_, at) =>
          plants.create(
            { id: BigInt(at + 10), name: 'Iris' },
            { ...KEY, key: 'key-2', fingerprint: `${at}` },
          ),
        ),
      )
      assert.deepEqual(
        mixed.map(({ outcome }) => outcome),
        ['created', ...Array<string>(19).fill('key-reused')],
      )
    })
  })
}
