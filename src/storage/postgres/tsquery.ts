import { INDEXED_QUERY_WORDS_MAX } from '../../plants/plant-search.ts'
import { lexemeOf } from './commit/insert-plants.ts'

/** The words of a query as a tsquery is written: each a prefix. The index knows some of them, and no more. */
export function tsquery(words: readonly string[]): string {
  return words
    .slice(0, INDEXED_QUERY_WORDS_MAX)
    .map((word) => `'${lexemeOf(word)}':*`)
    .join(' & ')
}
