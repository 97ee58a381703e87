import { INDEXED_QUERY_WORDS_MAX } from '../../../plants/plant-search.ts'

/** The FTS5 query for words: each is quoted, so that none is an operator, and a star makes it a prefix. */
export function fts5Query(words: readonly string[]): string {
  return words
    .slice(0, INDEXED_QUERY_WORDS_MAX)
    .map((word) => `"${word}"*`)
    .join(' ')
}
