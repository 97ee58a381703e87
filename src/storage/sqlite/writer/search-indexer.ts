import type { DatabaseSync } from 'node:sqlite'
import { searchWords } from '../../../plants/plant-search.ts'
import { inUnsyncedTransaction } from '../connection/in-transaction.ts'
import { createUnindexedBatches } from './unindexed-batches.ts'
import { createWriteLoad, IDLE_AFTER_MS } from './write-load.ts'

/**
 * Plants indexed in one transaction under constant writes, or those of one batch if they are more: a write may have to
 * wait for a few milliseconds.
 */
const BUSY_STEP_PLANTS = 200
/** Plants indexed in one transaction otherwise: a few milliseconds, too, and more would not be faster. */
const IDLE_STEP_PLANTS = 1_000

/** The interval of indexing under constant writes. */
const BUSY_INTERVAL_MS = 200
/** The pause after a failed step, on a full disk for example. */
const RETRY_AFTER_MS = 1_000

/**
 * Updates the search index after the writes are acknowledged: inside their transactions it more than doubled the cost
 * of a create. Unindexed plants are in a table, so a crash loses none. `warn` is called with the reason of a failure,
 * once until it succeeds again.
 */
export function createSearchIndexer(database: DatabaseSync, warn: (warning: string) => void) {
  const batches = createUnindexedBatches(database)
  const indexPlant = createPlantIndexing(database)
  const load = createWriteLoad()
  let lastStepMs = 0
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  let isFailing = false

  /** Indexes whole batches until `plantsMax` plants are reached. False if no batch is left. */
  function indexSome(plantsMax: number): boolean {
    const { ids, lastPosition } = batches.first(plantsMax)
    // A plant written twice is indexed once, with its current name.
    for (const id of new Set(ids)) indexPlant(id)
    batches.remove(lastPosition)
    return ids.length >= plantsMax
  }

  function step(): void {
    timer = undefined
    const isBusy = load.isBusy()
    if (isBusy && performance.now() - lastStepMs < BUSY_INTERVAL_MS) {
      schedule(IDLE_AFTER_MS)
      return
    }
    const startMs = performance.now()
    try {
      const isMore = inUnsyncedTransaction(database, () =>
        isBusy ? indexSome(BUSY_STEP_PLANTS) : batches.sort(IDLE_STEP_PLANTS) || indexSome(IDLE_STEP_PLANTS),
      )
      isFailing = false
      lastStepMs = performance.now()
      load.recordIndexing(lastStepMs - startMs)
      if (isMore) schedule(isBusy ? IDLE_AFTER_MS : 0)
    } catch (error) {
      // The plants stay in the table. Reported here, as the writes themselves may never fail.
      if (!isFailing) warn(`Names cannot be indexed for search: ${(error as Error).message}.`)
      isFailing = true
      schedule(RETRY_AFTER_MS)
    }
  }

  function schedule(afterMs: number): void {
    if (!isStopped) timer ??= setTimeout(step, afterMs)
  }

  schedule(0)
  return {
    /** Call it after each commit, with its duration. */
    recordWrites(tookMs: number): void {
      load.recordWrites(tookMs)
      schedule(IDLE_AFTER_MS)
    },
    stop(): void {
      isStopped = true
      clearTimeout(timer)
    },
  }
}

/** Replaces the words of a plant in the index by those of its name, or removes them if the plant was deleted. */
function createPlantIndexing(database: DatabaseSync): (id: bigint) => void {
  const selectName = database.prepare('SELECT substr(name, 1, 1000) AS name FROM plants WHERE id = ?')
  const deleteWords = database.prepare('DELETE FROM plant_words WHERE rowid = ?')
  const insertWords = database.prepare('INSERT INTO plant_words (rowid, words) VALUES (?, ?)')
  for (const statement of [deleteWords, insertWords]) statement.setReadBigInts(true)
  return (id) => {
    const name = selectName.get(id)?.name as string | undefined
    deleteWords.run(id)
    if (name !== undefined) insertWords.run(id, searchWords(name).join(' '))
  }
}
