import { firstIdAfter, type PlantQuery, type PlantStore } from '../../plants/plant-store.ts'
import type { GroupCommit } from '../batching/group-commit.ts'
import { createPlantImporting } from '../batching/plant-import.ts'
import { createPlantWriting } from '../batching/plant-write.ts'
import { PLANT_COLUMNS, type PlantRow, plantRow, plantRows, readPage, rowToPlant } from '../plant-columns.ts'
import type { PlantExporting } from '../plant-export.ts'
import { createReadQueue } from './read-queue.ts'
import type { Reader } from './reader.ts'
import type { Searches } from './searches.ts'
import type { Write, WriteOutcome } from './threads/write-batch.ts'

/** Rows of a page that are read at once: each row may contain two texts of a megabyte. */
const ROWS_AT_ONCE = 32

export interface SqlitePlantStoreOptions {
  reader: Reader
  searches: Searches
  writes: GroupCommit<Write, WriteOutcome>
  exporting: PlantExporting
  nowMs: () => number
}

/** `PlantStore` on SQLite. */
export function createSqlitePlantStore({
  reader,
  searches,
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
  const selectLastId = reader.prepare('SELECT id FROM plants WHERE id <= ? ORDER BY id DESC LIMIT 1')
  selectLastId.setReadBigInts(true)
  for (const statement of [selectPlant, selectFrom, selectTagged]) {
    statement.setReadBigInts(true)
    statement.setReturnArrays(true)
  }

  /**
   * Plants by id, read several at a time: one by one is slower, and all at once may be a gigabyte.
   */
  function* rowsById({ limit, afterId, tag }: PlantQuery): Iterable<PlantRow> {
    let fromId = firstIdAfter(afterId)
    // One row beyond the page shows whether there are more.
    for (let wanted = limit + 1; wanted > 0 && fromId !== undefined; wanted -= ROWS_AT_ONCE) {
      const count = Math.min(wanted, ROWS_AT_ONCE)
      const found = tag === undefined ? selectFrom.all(fromId, count) : selectTagged.all(tag, fromId, count)
      const rows = plantRows(found)
      yield* rows
      const last = rows.at(-1)
      if (last === undefined || rows.length < count) return
      fromId = firstIdAfter(last[0])
    }
  }

  // Separate queues: reads of single plants do not wait for large pages.
  const plantQueue = createReadQueue()
  const pageQueue = createReadQueue()

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
    get: (id, options) =>
      plantQueue.run(() => {
        const row = reader.read(() => selectPlant.get(id))
        return row === undefined ? undefined : rowToPlant(plantRow(row))
      }, options),
    list(query, options) {
      const { words } = query
      if (words !== undefined) return searches.search({ ...query, words }, options)
      return pageQueue.run(() => reader.read(() => readPage(rowsById(query), query.limit)), options)
    },
    lastIdUpTo: (max, options) =>
      plantQueue.run(() => reader.read(() => selectLastId.get(max)?.id as bigint | undefined), options),
    countTags: searches.countTags,
    countAdditions: searches.countAdditions,
  }
}
