import type { DatabaseSync } from 'node:sqlite'
import { searchWords } from '../../../plants/plant-search.ts'
import { inUnsyncedTransaction } from '../connection/in-transaction.ts'
import { createUnindexedBatches } from './unindexed-batches.ts'
import { createWriteLoad, IDLE_AFTER_MS } from './write-load.ts'

/**
 * Plants indexed in one transaction while writes keep coming, or those of one batch if they are more: a few
 * milliseconds that a write may have to wait.
 */
const BUSY_STEP_PLANTS = 200
/** While they do not: a few milliseconds as well, and more at once would not make it faster. */
const IDLE_STEP_PLANTS = 1_000

/** Under writes without a pause the index moves on at least this often. */
const BUSY_INTERVAL_MS = 200
/** After a failed step (disk full, say) the next try waits. */
const RETRY_AFTER_MS = 1_000

/**
 * Keeps the search index up to date behind the writes. It stands off the acknowledged path, since inside the
 * shared commits it more than doubled the cost of a create; what remains to be indexed is in a table, so a
 * crash loses none. `warn` is called with the reason why that cannot be done, once until it can again.
 */
export function createSearchIndexer(database: DatabaseSync, warn: (trouble: string) => void) {
  const batches = createUnindexedBatches(database)
  const indexPlant = createPlantIndexing(database)
  const load = createWriteLoad()
  let lastStepMs = 0
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  let isFailing = false

  /** Indexes whole batches until `plantsMax` plants are reached; false when nothing was left. */
  function indexSome(plantsMax: number): boolean {
    const { ids, lastPosition } = batches.first(plantsMax)
    // A plant written twice is indexed once: its words are those of the plant as it is now.
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
      // Nothing is lost: the plants stay in the table. But no write may ever meet what stands in the way here.
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
    /** Tells that a batch was committed, and how long that took. */
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

/** What brings the words of a plant in the index up to date with its name, or removes them with the plant. */
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
