import { workerData } from 'node:worker_threads'
import { INDEXED_QUERY_WORDS_MAX, nameHolds } from '../../plants/plant-search.ts'
import { firstIdAfter, type PlantPage, type PlantQuery, type TagCount } from '../../plants/plant-store.ts'
import { PLANT_COLUMNS, type PlantRow, readPage } from '../plant-rows.ts'
import { openReader } from './sqlite-connection.ts'
import { serveThread } from './sqlite-thread.ts'

// The thread for reads that can be long, so that they hold up no other request.

export interface SearcherOptions {
  path: string
}

export type SearchRequest =
  | { kind: 'search'; query: PlantQuery & { words: readonly string[] } }
  | { kind: 'count-tags'; limit: number }

export type SearchReply = { page: PlantPage } | { tags: TagCount[] } | { failure: string }

const database = openReader((workerData as SearcherOptions).path)

const search = database.prepare(`
  SELECT ${PLANT_COLUMNS}
  FROM plant_words JOIN plants ON plants.id = plant_words.rowid
  WHERE plant_words MATCH ?1 AND plant_words.rowid >= ?2 AND (?3 IS NULL OR tag = ?3)
  ORDER BY plant_words.rowid`)
search.setReadBigInts(true)
search.setReturnArrays(true)
const countTags = database.prepare(`
  SELECT tag, count(*) AS count FROM plants WHERE tag IS NOT NULL
  GROUP BY tag ORDER BY count DESC, tag LIMIT ?`)

function searchPlants({ words, afterId, tag, limit }: PlantQuery & { words: readonly string[] }): PlantPage {
  const fromId = firstIdAfter(afterId)
  if (words.length === 0 || fromId === undefined) return { plants: [], hasMore: false }
  // Each word quoted, so that none is an operator of the query language; a star makes it a prefix.
  const match = words
    .slice(0, INDEXED_QUERY_WORDS_MAX)
    .map((word) => `"${word}"*`)
    .join(' ')
  const rows = search.iterate(match, fromId, tag ?? null) as Iterable<unknown> as Iterable<PlantRow>
  // The index may be a moment behind a change of name; the name itself decides.
  return readPage(rows, limit, (plant) => nameHolds(plant.name, words))
}

serveThread<SearchRequest, SearchReply>(
  (request) => {
    try {
      if (request.kind === 'search') return { page: searchPlants(request.query) }
      return { tags: countTags.all(request.limit) as unknown as TagCount[] }
    } catch (error) {
      return { failure: (error as Error).message }
    }
  },
  () => database.close(),
)
