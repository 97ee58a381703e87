import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { SharedStorage } from './opened-storage.ts'

export function describeLastIds(shared: SharedStorage): void {
  describe('the last id up to a maximum', () => {
    test('is exact, and undefined if every id is greater', async () => {
      const { plants } = shared
      assert.equal(await plants.lastIdUpTo(9223372036854775807n), undefined)
      const ids = [-9223372036854775808n, -1n, 7n, 9007199254740992n, 9007199254740993n, 9223372036854775807n]
      for (const id of ids.toReversed()) await plants.create({ id, name: 'Rosa' })
      for (const [at, id] of ids.entries()) {
        assert.equal(await plants.lastIdUpTo(id), id)
        if (at > 0) assert.equal(await plants.lastIdUpTo(id - 1n), ids[at - 1])
      }
      await plants.delete(-9223372036854775808n)
      assert.equal(await plants.lastIdUpTo(-2n), undefined)
    })

    test('includes the plant of the last acknowledged write', async () => {
      const { plants } = shared
      for (let id = 1n; id <= 20n; id++) {
        await plants.create({ id, name: 'Rosa' })
        assert.equal(await plants.lastIdUpTo(1000n), id)
      }
    })
  })
}
