import { workerData } from 'node:worker_threads'
import { nameHolds } from '../../../plants/plant-search.ts'
import {
  type AdditionsStep,
  firstIdAfter,
  type PlantFilter,
  type PlantPage,
  type PlantQuery,
  type TagCount,
} from '../../../plants/plant-store.ts'
import { PLANT_COLUMNS, type PlantRow, readPage, readTags } from '../../plant-columns.ts'
import { openReader } from '../connection/open-connection.ts'
import { serveThread } from '../threads/thread.ts'
import { createAdditionsStep } from './additions-step.ts'
import { createExportReads, type PlantColumns } from './export-reads.ts'
import { fts5Query } from './fts5-query.ts'

// The thread for reads that may take long, so that they delay no other request.

export interface SearcherOptions {
  path: string
}

export type SearchRequest =
  | { kind: 'search'; query: PlantQuery & { words: readonly string[] } }
  | { kind: 'count-tags'; limit: number }
  | { kind: 'count-additions'; afterId: bigint | undefined; limit: number }
  | { kind: 'open-export'; key: number; filter: PlantFilter }
  | { kind: 'read-export'; key: number }
  | { kind: 'close-export'; key: number }

/** `columns` is undefined at the end of an export, and in the reply to `open-export` and `close-export`. */
export type SearchReply =
  | { page: PlantPage }
  | { tags: TagCount[] }
  | { additions: AdditionsStep }
  | { columns: PlantColumns | undefined }
  | { failure: string }

const { path } = workerData as SearcherOptions
const database = openReader(path)
const exportReads = createExportReads(path)
const countAdditions = createAdditionsStep(database)

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
  // node:sqlite does not type the rows of a statement: these are the columns of a plant, as arrays.
  const rows = search.iterate(
    fts5Query(words),
    fromId,
    tag ?? null,
  ) as Iterable<unknown> as Iterable<PlantRow>
  // The index may lag a change of a name; the name itself decides.
  return readPage(rows, limit, (plant) => nameHolds(plant.name, words))
}

function replyTo(request: SearchRequest): SearchReply {
  switch (request.kind) {
    case 'search':
      return { page: searchPlants(request.query) }
    case 'count-tags':
      // node:sqlite does not type the rows of a statement: these are the columns of `countTags`.
      return { tags: readTags(countTags.iterate(request.limit) as Iterable<unknown> as Iterable<TagCount>) }
    case 'count-additions':
      return { additions: countAdditions(request.afterId, request.limit) }
    case 'open-export':
      exportReads.open(request.key, request.filter)
      return { columns: undefined }
    case 'read-export':
      return { columns: exportReads.read(request.key) }
    case 'close-export':
      exportReads.close(request.key)
      return { columns: undefined }
  }
}

serveThread<SearchRequest, SearchReply>(
  (request) => {
    try {
      return replyTo(request)
    } catch (error) {
      return { failure: (error as Error).message }
    }
  },
  () => {
    exportReads.closeAll()
    database.close()
  },
  () => ({ failure: 'the storage closes' }),
)
