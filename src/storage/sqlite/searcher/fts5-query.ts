import { INDEXED_QUERY_WORDS_MAX } from '../../../plants/plant-search.ts'

/** Words as FTS5 is asked for them: each quoted, so that none is an operator; a star makes it a prefix. */
export function fts5Query(words: readonly string[]): string {
  return words
    .slice(0, INDEXED_QUERY_WORDS_MAX)
    .map((word) => `"${word}"*`)
    .join(' ')
}
