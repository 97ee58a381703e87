import { INDEXED_QUERY_WORDS_MAX } from '../../plants/plant-search.ts'
import { lexemeOf } from './commit/insert-plants.ts'

/**
 * The tsquery for the words of a query: each is a prefix. Only the first words are in it, as a longer query is slow.
 */
export function tsquery(words: readonly string[]): string {
  return words
    .slice(0, INDEXED_QUERY_WORDS_MAX)
    .map((word) => `'${lexemeOf(word)}':*`)
    .join(' & ')
}
