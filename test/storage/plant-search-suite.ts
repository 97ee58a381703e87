import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { queryWords } from '../../src/plants/plant-search.ts'
import type { PlantQuery, PlantStore } from '../../src/plants/plant-store.ts'
import { keepTrying } from '../support/keep-trying.ts'
import { ID_MAX, ID_MIN, NOTABLE_IDS } from './notable-ids.ts'
import type { SharedStorage } from './opened-storage.ts'

/** Each name, and queries that find it and none of the other names here. */
const FOUND_BY: readonly [name: string, queries: readonly string[]][] = [
  ['Açaí palm', ['acai', 'ACAI', 'açaí', 'palm acai', 'pal aca', 'ac\u0327ai\u0301', '"açaí"', 'acai acai']],
  ['Medicago ×varia', ['x varia', '×varia', 'medicago x', 'Medicago × varia', 'vari med']],
  ['Quercus robur “Fastigiata”', ["'fastigiata'", '„Fastigiata“', 'robur fast', 'quercus']],
  ["Rosa 'Peace'", ['peace', '‘Peace’', 'rosa `peace`']],
  ['Salix\u00a0alba\u3000Linnæus', ['salix alba', 'alba\tsalix', 'linnaeus', 'LINNÆUS', 'sal\u2009alb']],
  ['Łódź Ørsted Þór Œillet Đa', ['lodz', 'orsted', 'thor', 'œill', 'OEILLET', 'da lodz']],
  ['Straßenbaum', ['strassenbaum', 'STRASSE', 'straße']],
  ['Ирис сибирский', ['ИРИС', 'сибирскии', 'сиб ирис']],
  ['Θυμάρι άσπρος', ['ΘΥΜΑΡΙ', 'ασπρος', 'ΑΣΠΡΟΣ', 'ασπροσ']],
  ['İstanbul lâlesi', ['istanbul', 'ISTANBUL', 'lalesi']],
  ['日本の桜', ['桜', '本', '日本']],
  ['وردة حمراء', ['وردة', 'حمر']],
  ['Malus-domestica/Gala_12', ['domestica', 'gala', '12', 'malus 12', 'gala_12', 'malus-domestica']],
  ['ﬁcus ＷＩＤＥ', ['ficus', 'wide', 'fi wi']],
  [
    'AND OR NOT NEAR',
    ['and', 'OR NOT', 'not', 'near', 'AND OR NOT NEAR', 'NEAR(and, or)', '-not', 'NOT NOT'],
  ],
  [
    'terms: * ^ " \' ( ) { } + - : . , ; ? ! \\ %',
    ['terms', 'terms*', '"terms"', 'terms:', '^terms', '(terms)'],
  ],
  ['plant_words MATCH', ['match', 'plant_words', 'plant_words:match']],
  ['emoji 🌱 plant', ['emoji', '🌱 emoji', 'emoji plant']],
]

/**
 * Queries that find none of these names: not inside a word, not without each word, not without a word at all.
 */
const FIND_NOTHING = [
  'cai',
  'alm',
  'acai varia',
  'acaii',
  'palmacai',
  'rosa robur',
  'terms and',
  '🌱',
  '',
  '""',
  ' * ',
]

async function search(plants: PlantStore, q: string, query: Partial<PlantQuery> = {}): Promise<bigint[]> {
  const page = await plants.list({ limit: 1000, ...query, words: queryWords(q) })
  return page.plants.map(({ id }) => id)
}

export function describeSearch(shared: SharedStorage): void {
  describe('search', () => {
    test('names are found by their words, whatever the case, accents, quotes and spaces', async () => {
      const { plants } = shared
      await Promise.all(FOUND_BY.map(([name], at) => plants.create({ id: BigInt(at), name })))
      await keepTrying(async () => {
        for (const [at, [, [query = '']]] of FOUND_BY.entries()) {
          assert.ok((await search(plants, query)).includes(BigInt(at)), query)
        }
      })
      for (const [at, [name, queries]] of FOUND_BY.entries()) {
        for (const query of queries) {
          assert.deepEqual(await search(plants, query), [BigInt(at)], `"${query}" finds "${name}" alone`)
        }
        assert.equal((await plants.get(BigInt(at)))?.name, name)
      }
      for (const query of FIND_NOTHING) assert.deepEqual(await search(plants, query), [], `"${query}"`)
    })

    test('a found plant has its tag and its times', async () => {
      const { plants } = shared
      await plants.create({ id: 1n, name: 'Rosa alba', tag: 'shrub' })
      await plants.create({ id: 2n, name: 'Rosa canina' })
      await keepTrying(async () => assert.deepEqual(await search(plants, 'rosa'), [1n, 2n]))
      assert.deepEqual((await plants.list({ limit: 2, words: ['rosa'] })).plants, [
        await plants.get(1n),
        await plants.get(2n),
      ])
    })

    test('found plants are in the signed order of their ids, on exact pages', async () => {
      const { plants } = shared
      const shuffled = NOTABLE_IDS.toSorted((a, b) => (String(a) < String(b) ? -1 : 1))
      await Promise.all(shuffled.map((id) => plants.create({ id, name: `Rosa of ${id}` })))
      await keepTrying(async () => assert.deepEqual(await search(plants, 'rosa'), NOTABLE_IDS))
      const words = ['rosa']
      for (const limit of [1, 4, NOTABLE_IDS.length - 1, NOTABLE_IDS.length]) {
        const ids: bigint[] = []
        let page = await plants.list({ limit, words })
        for (;;) {
          ids.push(...page.plants.map(({ id }) => id))
          assert.equal(page.hasMore, ids.length < NOTABLE_IDS.length)
          if (!page.hasMore) break
          page = await plants.list({ limit, words, afterId: ids.at(-1) ?? 0n })
        }
        assert.deepEqual(ids, NOTABLE_IDS)
      }
      assert.deepEqual(await search(plants, 'rosa', { afterId: ID_MIN }), NOTABLE_IDS.slice(1))
      assert.deepEqual(await search(plants, 'rosa', { afterId: ID_MAX - 1n }), [ID_MAX])
      assert.deepEqual(await search(plants, 'rosa', { afterId: ID_MAX }), [])
    })

    test('a tag filters the found plants, and hasMore counts only those', async () => {
      const { plants } = shared
      for (let id = 0n; id < 6n; id++) {
        await plants.create({ id, name: 'Rosa', tag: id % 2n === 0n ? 'even' : 'odd' })
      }
      await plants.create({ id: 6n, name: 'Rosa' })
      await plants.create({ id: 8n, name: 'Iris', tag: 'even' })
      await keepTrying(async () => assert.equal((await search(plants, 'rosa')).length, 7))
      assert.deepEqual(await search(plants, 'rosa', { tag: 'even' }), [0n, 2n, 4n])
      assert.deepEqual(await search(plants, 'rosa', { tag: 'odd', afterId: 1n }), [3n, 5n])
      assert.deepEqual(await search(plants, 'rosa', { tag: 'Even' }), [])
      const words = ['rosa']
      assert.equal((await plants.list({ limit: 3, words, tag: 'even' })).hasMore, false)
      assert.equal((await plants.list({ limit: 2, words, tag: 'even' })).hasMore, true)
    })

    test('a renamed plant is found at once by its new name only', async () => {
      const { plants } = shared
      for (const id of [ID_MIN, -3n, ID_MAX]) await plants.create({ id, name: 'Rosa', tag: 'a' })
      await keepTrying(async () => assert.equal((await search(plants, 'rosa')).length, 3))
      await plants.update(ID_MIN, { name: 'Iris' })
      await plants.replace(ID_MAX, { name: 'Iris' })
      await plants.update(-3n, { tag: 'b' })
      assert.deepEqual(await search(plants, 'rosa'), [-3n])
      await keepTrying(async () => assert.deepEqual(await search(plants, 'iris'), [ID_MIN, ID_MAX]))
      assert.deepEqual(await search(plants, 'rosa', { tag: 'b' }), [-3n])
      await plants.update(ID_MIN, { name: 'Rosa' })
      await keepTrying(async () => assert.deepEqual(await search(plants, 'rosa'), [ID_MIN, -3n]))
    })

    test('a deleted plant is not found any more, and one created again is found by its new name only', async () => {
      const { plants } = shared
      for (const id of [ID_MIN, 1n, ID_MAX]) await plants.create({ id, name: 'Rosa' })
      await keepTrying(async () => assert.equal((await search(plants, 'rosa')).length, 3))
      await Promise.all([plants.delete(ID_MIN), plants.delete(1n), plants.delete(ID_MAX)])
      assert.deepEqual(await search(plants, 'rosa'), [])
      await plants.create({ id: ID_MIN, name: 'Iris' })
      assert.deepEqual(await search(plants, 'rosa'), [])
      await keepTrying(async () => assert.deepEqual(await search(plants, 'iris'), [ID_MIN]))
      assert.deepEqual(await search(plants, 'rosa'), [])
    })

    test('the start of a name of a megabyte is searched', async () => {
      const { plants } = shared
      const filler = 'Lorem '.repeat(150_000)
      await plants.create({ id: 1n, name: `Rosa ${filler} Tulipa` })
      await plants.create({ id: 2n, name: `${'🌱'.repeat(490)} Iris ${filler}` })
      await keepTrying(async () => assert.deepEqual(await search(plants, 'lorem'), [1n, 2n]))
      assert.deepEqual(await search(plants, 'rosa'), [1n])
      assert.deepEqual(await search(plants, 'iris'), [2n])
      assert.deepEqual(await search(plants, 'tulipa'), [])
    })
  })
}
