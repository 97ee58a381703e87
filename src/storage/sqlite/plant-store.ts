import { AppError } from '../../errors.ts'
import {
  type AdditionsStep,
  firstIdAfter,
  type PlantPage,
  type PlantQuery,
  type PlantStore,
} from '../../plants/plant-store.ts'
import type { GroupCommit } from '../batching/group-commit.ts'
import { createPlantImporting } from '../batching/plant-import.ts'
import { createPlantWriting } from '../batching/plant-write.ts'
import { PLANT_COLUMNS, type PlantRow, readPage, rowToPlant } from '../plant-columns.ts'
import type { PlantExporting } from '../plant-export.ts'
import { storageError } from './connection/sqlite-connection.ts'
import type { Reader } from './reader.ts'
import type { SearchReply, SearchRequest } from './searcher/searcher.ts'
import type { Thread } from './threads/thread.ts'
import type { Write, WriteOutcome } from './threads/write-batch.ts'

/** Searches that may wait for their thread; one more is refused. */
const WAITING_SEARCHES_MAX = 256

/** A page is read in steps of so many rows; each may hold two texts of a megabyte. */
const ROWS_AT_ONCE = 32

export interface SqlitePlantStoreOptions {
  reader: Reader
  searcher: Thread<SearchRequest, SearchReply>
  writes: GroupCommit<Write, WriteOutcome>
  exporting: PlantExporting
  nowMs: () => number
}

/** Plants in SQLite. What it promises is written at `PlantStore`. */
export function createSqlitePlantStore({
  reader,
  searcher,
  writes,
  exporting,
  nowMs,
}: SqlitePlantStoreOptions): PlantStore {
  const selectPlant = reader.prepare(`SELECT ${PLANT_COLUMNS} FROM plants WHERE id = ?`)
  const selectFrom = reader.prepare(`SELECT ${PLANT_COLUMNS} FROM plants WHERE id >= ? ORDER BY id LIMIT ?`)
  const selectTagged = reader.prepare(
    `SELECT ${PLANT_COLUMNS} FROM plants WHERE tag = ? AND id >= ? ORDER BY id LIMIT ?`,
  )
  const selectId = reader.prepare('SELECT 1 FROM plants WHERE id = ?')
  for (const statement of [selectPlant, selectFrom, selectTagged]) {
    statement.setReadBigInts(true)
    statement.setReturnArrays(true)
  }

  /**
   * Plants in the order of their ids, read some at a time: one by one is slower, and all at once may be a
   * gigabyte.
   */
  function* rowsById({ limit, afterId, tag }: PlantQuery): Iterable<PlantRow> {
    let fromId = firstIdAfter(afterId)
    // One more than the page holds tells whether there is more.
    for (let wanted = limit + 1; wanted > 0 && fromId !== undefined; wanted -= ROWS_AT_ONCE) {
      const count = Math.min(wanted, ROWS_AT_ONCE)
      const found = tag === undefined ? selectFrom.all(fromId, count) : selectTagged.all(tag, fromId, count)
      // node:sqlite does not know what a statement gives: these are the columns of a plant.
      const rows = found as unknown as PlantRow[]
      yield* rows
      const last = rows.at(-1)
      if (last === undefined || rows.length < count) return
      fromId = firstIdAfter(last[0])
    }
  }

  async function ask(request: SearchRequest): Promise<Exclude<SearchReply, { failure: string }>> {
    if (searcher.waiting >= WAITING_SEARCHES_MAX) {
      throw new AppError(50301, 'Too many searches are waiting; try again in a moment.', {
        reason: 'queued-reads',
      })
    }
    const reply = await searcher.call(request).catch((cause: unknown) => {
      // The store is closed: a count, of which nobody may be waiting any more, ends there.
      throw storageError(cause)
    })
    if ('failure' in reply) throw storageError(new Error(reply.failure))
    return reply
  }

  return {
    ...createPlantWriting(writes.submit, nowMs),
    ...createPlantImporting({
      submit: (write) => writes.submit(write, { isPaced: true }),
      async findTaken(ids) {
        return new Set(reader.read(() => ids.filter((id) => selectId.get(id) !== undefined)))
      },
      nowMs,
    }),
    exportPlants: exporting.exportPlants,
    async get(id) {
      const row = reader.read(() => selectPlant.get(id))
      // node:sqlite does not know what a statement gives: these are the columns of a plant.
      return row === undefined ? undefined : rowToPlant(row as unknown as PlantRow)
    },
    async list(query) {
      const { words } = query
      if (words === undefined) return reader.read(() => readPage(rowsById(query), query.limit))
      return ((await ask({ kind: 'search', query: { ...query, words } })) as { page: PlantPage }).page
    },
    async countTags(limit) {
      const reply = await ask({ kind: 'count-tags', limit })
      return 'tags' in reply ? reply.tags : []
    },
    async countAdditions(afterId, limit) {
      const reply = await ask({ kind: 'count-additions', afterId, limit })
      return (reply as { additions: AdditionsStep }).additions
    },
  }
}
