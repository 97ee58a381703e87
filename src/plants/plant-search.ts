/** A search covers only the start of a name, so that a name of a megabyte does not fill the index. */
const SEARCHED_CHARACTERS_MAX = 1000

/** The maximum number of query words that are looked up in the index. The name itself is compared with all of them. */
export const INDEXED_QUERY_WORDS_MAX = 16

/** Letters without a decomposition in Unicode, and what people type instead. */
const PLAIN_LETTERS: Readonly<Record<string, string>> = {
  '×': ' x ',
  '✕': ' x ',
  '⨯': ' x ',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ł: 'l',
  ħ: 'h',
  æ: 'ae',
  œ: 'oe',
  ς: 'σ',
  // From a capital ẞ, which upper case leaves as it is.
  ß: 'ss',
  // Apostrophes and primes that Unicode classifies as letters, as in Hawaiʻi: separators, like the ASCII apostrophe.
  ʹ: ' ',
  ʺ: ' ',
  ʻ: ' ',
  ʼ: ' ',
  ʽ: ' ',
  ˈ: ' ',
  ˮ: ' ',
  ꞌ: ' ',
}
const PLAIN_LETTERS_PATTERN = new RegExp(`[${Object.keys(PLAIN_LETTERS).join('')}]`, 'g')

/**
 * Scripts written without spaces: each character, with its marks, is a word, so that a search finds it anywhere in a
 * name.
 */
const UNSPACED_PATTERN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]\p{M}*/gu

/**
 * The search words of a name: lower case, without accents, `×` as `x`, split at everything that is not a letter, digit
 * or mark. Every storage engine uses them, so that all find the same plants.
 */
export function searchWords(text: string): string[] {
  const folded = text
    .slice(0, SEARCHED_CHARACTERS_MAX)
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    // Upper case first: it decomposes what lower case does not, such as ß to SS, and unifies the dotless i.
    .toUpperCase()
    .toLowerCase()
    .replace(/[\u0300-\u036f]/g, '')
    .replace(PLAIN_LETTERS_PATTERN, (letter) => PLAIN_LETTERS[letter] ?? letter)
    .replace(UNSPACED_PATTERN, ' $& ')
  return folded.split(/[^\p{L}\p{N}\p{M}]+/u).filter((word) => word !== '')
}

/** The distinct words of a query. A query without words finds nothing. */
export function queryWords(query: string): string[] {
  return [...new Set(searchWords(query))]
}

/** Whether each of `words` is a prefix of a word of `name`: true for every plant that a search returns. */
export function nameHolds(name: string, words: readonly string[]): boolean {
  const nameWords = searchWords(name)
  return words.every((word) => nameWords.some((nameWord) => nameWord.startsWith(word)))
}
