import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { SharedStorage } from './opened-storage.ts'

/**
 * Texts that come back different where a store trims, normalises, folds, reads numbers or counts in other
 * units.
 */
export const TEXTS: readonly string[] = [
  '',
  ' ',
  '  two spaces before, a tab behind\t',
  'line\r\nbreaks\nand\rmore\u2028and\u2029more',
  'NULL',
  '0',
  '1e5',
  '007',
  '-9223372036854775808',
  `quotes ' " \` ” ‘ \\ \\' %s %_ $1 ?1 :a`,
  "'); DROP TABLE plants; --",
  'Ŝcirpus — Medicago ×varia ‘Açaí’',
  // The same letter composed and not; the Ångström sign and the letter; ligatures and wide forms stay what
  // they are.
  '\u00e9',
  'e\u0301',
  '\u212b',
  '\u00c5',
  'ﬁcus',
  'ＷＩＤＥ',
  'Straße STRASSE strasse İı',
  '🌱',
  '👩🏽‍🌾 🏳️‍🌈 𠮷野家',
  'وردة \u202ebidi\u202c שושנה',
  '桜とバラ',
  '\u0001\u0002\u001b\u007f\u0080\u009f',
  '\ufeffwith a byte order mark',
  '\uffff\ufffe\ufffd',
  '\u{10ffff}\u{1f331}\u{10000}',
  '\ue000\uf8ff',
]

export function describeTexts(shared: SharedStorage): void {
  describe('texts', () => {
    test('names and tags are stored exactly, character by character', async () => {
      const { plants } = shared
      await Promise.all(
        TEXTS.map((text, at) => plants.create({ id: BigInt(at), name: text, tag: `${text}\u200b` })),
      )
      await Promise.all(
        TEXTS.map((text, at) => plants.replace(BigInt(at) + 100n, { name: text, tag: `${text}\u200b` })),
      )
      await Promise.all(
        TEXTS.map(async (text, at) => {
          await plants.create({ id: BigInt(at) + 200n, name: 'other' })
          const changed = await plants.update(BigInt(at) + 200n, { name: text, tag: `${text}\u200b` })
          assert.equal('plant' in changed && changed.plant.name, text)
        }),
      )
      const { plants: listed } = await plants.list({ limit: 1000 })
      for (const [at, text] of TEXTS.entries()) {
        for (const id of [BigInt(at), BigInt(at) + 100n, BigInt(at) + 200n]) {
          const plant = await plants.get(id)
          assert.equal(plant?.name, text)
          assert.equal(plant?.tag, `${text}\u200b`)
          assert.deepEqual(
            listed.find((one) => one.id === id),
            plant,
          )
        }
      }
    })

    test('a plant is found by the exact text of its tag only', async () => {
      const { plants } = shared
      await Promise.all(TEXTS.map((text, at) => plants.create({ id: BigInt(at), name: 'Rosa', tag: text })))
      await plants.create({ id: -1n, name: 'without a tag' })
      for (const [at, text] of TEXTS.entries()) {
        const { plants: found } = await plants.list({ limit: 10, tag: text })
        assert.deepEqual(
          found.map(({ id }) => id),
          [BigInt(at)],
          JSON.stringify(text),
        )
      }
    })

    test('names and tags of a megabyte are stored complete, and found by their tag', async () => {
      const { plants } = shared
      const mebi = 1024 * 1024
      const long = ['a'.repeat(mebi), `${'a'.repeat(mebi - 1)}b`, '×'.repeat(mebi / 2), '🌱'.repeat(mebi / 4)]
      for (const [at, text] of long.entries()) {
        const id = BigInt(at)
        assert.equal((await plants.create({ id, name: `${text}!`, tag: text })).outcome, 'created')
        const plant = await plants.get(id)
        assert.ok(plant?.name === `${text}!` && plant.tag === text, `plant ${id} differs`)
        const { plants: found } = await plants.list({ limit: 10, tag: text })
        assert.deepEqual(
          found.map((one) => one.id),
          [id],
        )
      }
      assert.equal((await plants.update(0n, { tag: null })).outcome, 'updated')
      assert.equal((await plants.delete(1n)).outcome, 'deleted')
      assert.equal((await plants.countTags(10)).length, 2)
    })
  })
}
