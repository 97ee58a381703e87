import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextId } from '../../src/plants/next-id.ts'

const MAX = 9007199254740991n

/** A store of these ids that counts its lookups. */
function storeOf(ids: readonly bigint[]) {
  const store = {
    lookups: 0,
    async lastIdUpTo(max: bigint) {
      store.lookups += 1
      return ids.findLast((id) => id <= max)
    },
  }
  return store
}

test('the next id is one more than the greatest up to 2^53 - 1, found by one lookup', async () => {
  for (const [ids, wanted] of [
    [[], 1n],
    [[-5n, 0n], 1n],
    [[1n, 2n, 40n], 41n],
    [[3n, MAX + 1n, 9223372036854775807n], 4n],
    [[MAX - 1n], MAX],
  ] as const) {
    const store = storeOf(ids)
    assert.equal(await nextId(store), wanted)
    assert.equal(store.lookups, 1)
  }
})

test('if 2^53 - 1 is used, the next id is random, positive and free', async () => {
  const randoms = [0n, 2n ** 53n, 5n, 2n ** 60n + 6n]
  const id = await nextId(storeOf([5n, MAX]), { random: () => randoms.shift() ?? 1n })
  assert.equal(id, 6n)
  assert.ok((await nextId(storeOf([MAX]))) < MAX)
})
