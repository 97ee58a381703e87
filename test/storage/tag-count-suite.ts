import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { SharedStorage } from './opened-storage.ts'

export function describeTagCounts(shared: SharedStorage): void {
  describe('tags', () => {
    test('tags have counts, the most used first, then in the order of their code points', async () => {
      const { plants } = shared
      // U+FFFF comes before the emoji in code points, and after its surrogates in UTF-16.
      const single = ['', 'Tree', 'a', 'aa', 'tree', 'ä', '\uffff', '🌱']
      const wanted = [
        { tag: 'shrub', count: 3 },
        { tag: 'Shrub', count: 2 },
        { tag: 'herb', count: 2 },
        ...single.map((tag) => ({ tag, count: 1 })),
      ]
      let id = -5n
      for (const { tag, count } of wanted.toReversed()) {
        for (let times = 0; times < count; times++) await plants.create({ id: id++, name: 'Rosa', tag })
      }
      await plants.create({ id: 100n, name: 'without a tag' })
      assert.deepEqual(await plants.countTags(100), wanted)
      assert.deepEqual(await plants.countTags(2), wanted.slice(0, 2))
    })

    test('long tags are limited to what fits on a page, however many are requested', async () => {
      const { plants } = shared
      const million = 1024 * 1024
      const tags = ['a', 'b', 'c', 'd', 'e', 'f'].map((letter) => letter.repeat(million))
      for (const [at, tag] of tags.entries()) await plants.create({ id: BigInt(at), name: 'Rosa', tag })
      await plants.create({ id: 100n, name: 'Rosa', tag: 'f'.repeat(million) })
      const counted = await plants.countTags(1_000)
      assert.deepEqual(
        counted.map(({ tag, count }) => [tag[0], tag.length, count]),
        [
          ['f', million, 2],
          ['a', million, 1],
          ['b', million, 1],
          ['c', million, 1],
          ['d', million, 1],
        ],
      )
    })

    test('the longest tag is returned although it fills a page', async () => {
      const { plants } = shared
      const tag = 'a'.repeat(5 * 1024 * 1024)
      await plants.create({ id: 1n, name: 'Rosa', tag })
      await plants.create({ id: 2n, name: 'Rosa', tag: 'b' })
      assert.deepEqual(
        (await plants.countTags(10)).map(({ count, tag: { length } }) => [length, count]),
        [[tag.length, 1]],
      )
    })

    test('counts follow every kind of write', async () => {
      const { plants } = shared
      assert.deepEqual(await plants.countTags(10), [])
      await plants.create({ id: 1n, name: 'Rosa', tag: 'a' })
      await plants.create({ id: 1n, name: 'Rosa', tag: 'b' })
      await plants.replace(2n, { name: 'Rosa', tag: 'a' })
      assert.deepEqual(await plants.countTags(10), [{ tag: 'a', count: 2 }])
      await plants.update(2n, { tag: 'b' })
      assert.deepEqual(await plants.countTags(10), [
        { tag: 'a', count: 1 },
        { tag: 'b', count: 1 },
      ])
      await plants.delete(1n)
      await plants.update(2n, { tag: null })
      assert.deepEqual(await plants.countTags(10), [])
    })
  })
}
