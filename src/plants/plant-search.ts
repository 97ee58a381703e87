/**
 * Only so much of a name is searched: nobody types more, and the index stays small beside a name of a
 * megabyte.
 */
const SEARCHED_CHARACTERS_MAX = 1000

/** Words of a query that an index is asked for, a look each; the name itself is held against all of them. */
export const INDEXED_QUERY_WORDS_MAX = 16

/** Letters that Unicode does not take apart, written the way people type them. */
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
  // What is left of a capital ẞ, which has no upper case of its own.
  ß: 'ss',
  // Apostrophes and primes that Unicode counts among the letters, as in Hawaiʻi: separators, like their plain
  // kin.
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
 * Scripts written without spaces: each character is a word, its sound mark with it, so that one inside a name
 * is found.
 */
const UNSPACED_PATTERN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]\p{M}*/gu

/**
 * The words by which a name is found: lower case, without accents, `×` as `x`, split at everything that is
 * neither letter, digit nor mark. Pure, so that every storage engine gives the same answers. `text` itself is
 * never changed.
 */
export function searchWords(text: string): string[] {
  const folded = text
    .slice(0, SEARCHED_CHARACTERS_MAX)
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    // Upper case first: it takes apart what lower case leaves, ß to SS, and joins the two dotless i.
    .toUpperCase()
    .toLowerCase()
    .replace(/[\u0300-\u036f]/g, '')
    .replace(PLAIN_LETTERS_PATTERN, (letter) => PLAIN_LETTERS[letter] ?? letter)
    .replace(UNSPACED_PATTERN, ' $& ')
  return folded.split(/[^\p{L}\p{N}\p{M}]+/u).filter((word) => word !== '')
}

/** The distinct words of a query. An empty list means that the query holds no word, and so finds nothing. */
export function queryWords(query: string): string[] {
  return [...new Set(searchWords(query))]
}

/**
 * Whether each of `words` begins some word of `name`: what a search promises of every plant that it returns.
 */
export function nameHolds(name: string, words: readonly string[]): boolean {
  const nameWords = searchWords(name)
  return words.every((word) => nameWords.some((nameWord) => nameWord.startsWith(word)))
}
