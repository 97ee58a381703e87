import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { nameHolds, queryWords, searchWords } from '../../src/plants/plant-search.ts'

const finds = (query: string, name: string) => nameHolds(name, queryWords(query))

test('a name is found by its words or their beginnings, in any order', () => {
  assert.ok(finds('quercus', 'Quercus robur'))
  assert.ok(finds('rob quer', 'Quercus robur'))
  assert.ok(finds('q', 'Quercus robur'))
  assert.ok(!finds('uercus', 'Quercus robur'), 'the middle of a word')
  assert.ok(!finds('quercus petraea', 'Quercus robur'), 'every word is wanted')
  assert.ok(!finds('quercusr', 'Quercus robur'), 'words are not run together')
})

test('case, accents, ×, quotation marks and spaces make no difference', () => {
  const pairs: [string, string][] = [
    ['acai', 'Açaí palm'],
    ['AÇAÍ', 'acai palm'],
    ['x varia', 'Medicago ×varia'],
    ['medicago × varia', 'Medicago x varia'],
    ['strasse', 'Straße'],
    ['STRAẞE', 'strasse'],
    ['aesculus', 'Æsculus'],
    ['oeillet', 'Œillet'],
    ['smorgas', 'Smørgås'],
    ['lodz', 'Łódź'],
    ['ıstanbul', 'İSTANBUL'],
    ['ναρκισσος', 'ΝΆΡΚΙΣΣΟΣ'],
    ["rosa 'peace'", 'Rosa ‘Peace’'],
    ['rosa "peace"', 'Rosa “Peace”'],
    ["d'anjou", 'Poire d’Anjou'],
    ["hawai'i", 'Hibiscus Hawaiʻi'],
    ['hawaiʼi', "Hibiscus Hawai'i"],
    ['rosa\u00a0canina', 'Rosa\u3000canina'],
    ['forget me not', 'forget-me-not'],
    ['ﬁcus', 'Ficus'],
    ['ＦＩＣＵＳ', 'ficus'],
    ['no 5', 'Rosa No.5'],
  ]
  for (const [query, name] of pairs) assert.ok(finds(query, name), `${query} in ${name}`)
})

test('a character inside a name without spaces is found', () => {
  assert.ok(finds('菊', '白菊の花'))
  assert.ok(finds('菊の', '白菊の花'))
  assert.ok(!finds('梅', '白菊の花'))
})

test('a voiced kana is one word, different from the voiceless one', () => {
  assert.deepEqual(searchWords('ガジュマル'), ['カ\u3099', 'シ\u3099', 'ュ', 'マ', 'ル'])
  assert.ok(nameHolds('ガジュマル', queryWords('ジ')))
  assert.ok(!nameHolds('カンナ', queryWords('ガ')))
})

test('a query without words finds nothing', () => {
  for (const query of ['', ' ', '"', '***', '-', '\u{1f331}', '\ud800', '\0']) {
    assert.deepEqual(queryWords(query), [], JSON.stringify(query))
  }
})

test('each word of a query counts once, within the first thousand characters', () => {
  assert.deepEqual(queryWords('Rosa ROSA rósa canina'), ['rosa', 'canina'])
  assert.equal(queryWords(Array.from({ length: 1000 }, (_, at) => at + 1000).join(' ')).length, 200)
})

test('a search covers the first thousand characters of a long name', () => {
  const name = `first ${'x'.repeat(990)} last ${'y'.repeat(1_000_000)}`
  assert.ok(finds('first', name))
  assert.ok(!finds('last', name))
  // The limit splits a surrogate pair, but only whole characters remain.
  assert.ok(searchWords(`${'a'.repeat(999)}\u{20000}`).every((word) => word.isWellFormed()))
})

test('a word has no special character of a search engine', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 20 }), (text) => {
      for (const word of searchWords(text)) assert.match(word, /^[a-z0-9\u0080-\u{10ffff}]+$/u)
    }),
    { numRuns: 1000 },
  )
})

test('every letter is found in its other case', () => {
  // The iota under a Greek vowel counts as an accent; in capitals it is a letter.
  const isWithIota = (letter: string) => letter.normalize('NFD').includes('\u0345')
  for (let code = 0; code < 0x1ffff; code++) {
    if (code >= 0xd800 && code <= 0xdfff) continue
    const letter = String.fromCodePoint(code)
    for (const other of [letter.toLowerCase(), letter.toUpperCase()]) {
      if (other === letter || isWithIota(letter)) continue
      assert.deepEqual(searchWords(other), searchWords(letter), `${letter} and ${other}`)
    }
  }
})

test('equal texts in different normal forms have the same words, and folding a word again does not change it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 30 }), (text) => {
      const words = searchWords(text)
      for (const form of ['NFC', 'NFD', 'NFKC', 'NFKD'] as const) {
        assert.deepEqual(searchWords(text.normalize(form)), words)
      }
      assert.deepEqual(searchWords(words.join(' ')), words)
      assert.ok(nameHolds(text, words))
    }),
    { numRuns: 1000 },
  )
})
