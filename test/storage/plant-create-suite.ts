import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AppError } from '../../src/errors.ts'
import type { CreateOutcome } from '../../src/plants/plant-store.ts'
import { NOTABLE_IDS } from './notable-ids.ts'
import type { OpenStorage, SharedStorage } from './opened-storage.ts'

export function describeCreates(shared: SharedStorage, open: OpenStorage): void {
  describe('create', () => {
    test('a created plant is read back complete, with the time of its creation and its version', async () => {
      const { plants, clock } = shared
      const createdAtMs = clock.nowMs()
      const created = await plants.create({ id: 7n, name: 'Quercus robur', tag: 'tree' })
      assert.ok(created.outcome === 'created')
      assert.deepEqual(await plants.get(7n), {
        id: 7n,
        name: 'Quercus robur',
        tag: 'tree',
        createdAtMs,
        updatedAtMs: createdAtMs,
        version: created.version,
      })
    })

    test('a plant without a tag has no tag member, and an empty tag is a tag', async () => {
      const { plants } = shared
      await plants.create({ id: 1n, name: 'Rosa' })
      await plants.create({ id: 2n, name: 'Rosa', tag: '' })
      assert.equal(Object.hasOwn((await plants.get(1n)) ?? {}, 'tag'), false)
      assert.equal((await plants.get(2n))?.tag, '')
    })

    test('a plant that was never created is undefined', async () => {
      const { plants } = shared
      for (const id of NOTABLE_IDS) assert.equal(await plants.get(id), undefined)
    })

    test('every 64-bit id is a plant of its own, including the bounds', async () => {
      const { plants } = shared
      for (const id of NOTABLE_IDS) {
        assert.equal((await plants.create({ id, name: `plant ${id}` })).outcome, 'created')
      }
      for (const id of NOTABLE_IDS) {
        const plant = await plants.get(id)
        assert.equal(plant?.id, id)
        assert.equal(plant?.name, `plant ${id}`)
      }
    })

    test('a create with a taken id is rejected, and the first plant does not change', async () => {
      const { plants } = shared
      for (const id of [NOTABLE_IDS[0], 5n, NOTABLE_IDS.at(-1)] as bigint[]) {
        await plants.create({ id, name: 'the first', tag: 'kept' })
        const first = await plants.get(id)
        assert.deepEqual(await plants.create({ id, name: 'the second', tag: 'other' }), { outcome: 'taken' })
        assert.deepEqual(await plants.create({ id, name: 'the first', tag: 'kept' }), { outcome: 'taken' })
        assert.deepEqual(await plants.get(id), first)
      }
    })
  })

  describe('concurrent writes', () => {
    test('the first call wins if creates with one id are concurrent', async () => {
      const { plants } = shared
      const outcomes = await Promise.all(
        Array.from({ length: 100 }, (_, at) => plants.create({ id: 1n, name: `number ${at}` })),
      )
      assert.deepEqual(
        outcomes.map(({ outcome }) => outcome),
        ['created', ...Array<string>(99).fill('taken')],
      )
      assert.equal((await plants.get(1n))?.name, 'number 0')
    })

    test('one rejected create does not affect the others', async () => {
      const { plants } = shared
      await plants.create({ id: 50n, name: 'was here before' })
      const ids = Array.from({ length: 1500 }, (_, at) => BigInt(at % 1000))
      const outcomes = await Promise.all(ids.map((id, at) => plants.create({ id, name: `number ${at}` })))
      for (const [at, { outcome }] of outcomes.entries()) {
        assert.equal(outcome, at < 1000 && at !== 50 ? 'created' : 'taken', `create ${at}`)
      }
      const { plants: stored, hasMore } = await plants.list({ limit: 1001 })
      assert.equal(hasMore, false)
      assert.deepEqual(
        stored.map(({ name }) => name),
        Array.from({ length: 1000 }, (_, at) => (at === 50 ? 'was here before' : `number ${at}`)),
      )
    })

    test('writes of every kind take effect in the order of the calls', async () => {
      const { plants } = shared
      const idempotency = { caller: 'a', key: 'k', fingerprint: 'f' }
      const outcomes = await Promise.all([
        plants.update(1n, { name: 'too early' }),
        plants.create({ id: 1n, name: 'one' }, idempotency),
        plants.create({ id: 1n, name: 'one again' }),
        plants.update(1n, { tag: 'tagged' }),
        plants.delete(1n),
        plants.delete(1n),
        plants.replace(1n, { name: 'two' }),
        plants.create({ id: 1n, name: 'one' }, idempotency),
        plants.replace(1n, { name: 'three', tag: 'last' }),
        plants.create({ id: 2n, name: 'four' }),
      ])
      assert.deepEqual(
        outcomes.map(({ outcome }) => outcome),
        // The eighth repeats the second by its key, whatever was done to the plant since.
        'absent created taken updated deleted absent created created replaced created'.split(' '),
      )
      const { plants: stored } = await plants.list({ limit: 10 })
      assert.deepEqual(
        stored.map(({ id, name, tag }) => [id, name, tag]),
        [
          [1n, 'three', 'last'],
          [2n, 'four', undefined],
        ],
      )
    })

    test('a write is seen by every read that begins after its promise is fulfilled', async () => {
      const { plants } = shared
      for (let id = 0n; id < 50n; id++) {
        await plants.create({ id, name: 'new' })
        assert.notEqual(await plants.get(id), undefined)
        const page = await plants.list({ limit: 1, afterId: id - 1n })
        assert.equal(page.plants[0]?.id, id)
        await plants.delete(id)
        assert.equal(await plants.get(id), undefined)
        assert.deepEqual(await plants.list({ limit: 1 }), { plants: [], hasMore: false })
      }
    })

    test('writes beyond the queue are rejected with 50301 and not stored', async (t) => {
      const { plants } = await open(t, { queuedWritesMax: 10 })
      const results = await Promise.allSettled(
        Array.from({ length: 100 }, (_, at) => plants.create({ id: BigInt(at), name: 'one of many' })),
      )
      for (const [at, result] of results.entries()) {
        const stored = await plants.get(BigInt(at))
        if (result.status === 'fulfilled') {
          assert.equal((result.value as CreateOutcome).outcome, 'created')
          assert.notEqual(stored, undefined)
        } else {
          assert.ok(result.reason instanceof AppError)
          assert.equal(result.reason.code, 50301)
          assert.equal(stored, undefined)
        }
      }
      const rejected = results.filter(({ status }) => status === 'rejected').length
      assert.ok(rejected > 0 && rejected <= 90, `${rejected} of 100 were rejected`)
      assert.equal((await plants.create({ id: 1000n, name: 'afterwards' })).outcome, 'created')
    })
  })
}
