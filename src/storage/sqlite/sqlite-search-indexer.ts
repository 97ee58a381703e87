import type { DatabaseSync } from 'node:sqlite'
import { searchWords } from '../../plants/plant-search.ts'
import { inUnsyncedTransaction } from './sqlite-connection.ts'

/**
 * Plants indexed in one transaction while writes keep coming, or those of one batch if they are more: a few
 * milliseconds that a write may have to wait.
 */
const BUSY_STEP_PLANTS = 200
/** While they do not: larger steps make a better index for less work. */
const IDLE_STEP_PLANTS = 2_000

/** A pause in the writes of this length is taken for the end of a burst. */
const IDLE_AFTER_MS = 5
/** Under writes without a pause the index moves on at least this often. */
const BUSY_INTERVAL_MS = 200
/** After a failed step (disk full, say) the next try waits. */
const RETRY_AFTER_MS = 1_000

/**
 * Keeps the search index up to date behind the writes. It stands off the acknowledged path, since inside the
 * shared commits it more than doubled the cost of a create; what remains to be indexed is in a table, so a
 * crash loses none.
 */
export function createSearchIndexer(database: DatabaseSync) {
  const statements = prepareStatements(database)
  let lastWriteMs = 0
  let lastStepMs = 0
  let timer: NodeJS.Timeout | undefined
  let isStopped = false

  /** Indexes whole batches until `plantsMax` plants are reached; false when nothing was left. */
  function indexSome(plantsMax: number): boolean {
    const ids = new Set<bigint>()
    let lastPosition: bigint | undefined
    for (const { position, plant_ids } of statements.selectBatches.iterate()) {
      for (const id of idsIn(plant_ids as Uint8Array)) ids.add(id)
      lastPosition = position as bigint
      if (ids.size >= plantsMax) break
    }
    if (lastPosition === undefined) return false
    // A plant written twice is indexed once: its words are those of the plant as it is now.
    for (const id of ids) {
      const name = statements.selectName.get(id)?.name as string | undefined
      statements.deleteWords.run(id)
      if (name !== undefined) statements.insertWords.run(id, searchWords(name).join(' '))
    }
    statements.deleteBatches.run(lastPosition)
    return ids.size >= plantsMax
  }

  function step(): void {
    timer = undefined
    const now = performance.now()
    const isBusy = now - lastWriteMs < IDLE_AFTER_MS
    if (isBusy && now - lastStepMs < BUSY_INTERVAL_MS) {
      schedule(IDLE_AFTER_MS)
      return
    }
    try {
      const plantsMax = isBusy ? BUSY_STEP_PLANTS : IDLE_STEP_PLANTS
      const isMore = inUnsyncedTransaction(database, () => indexSome(plantsMax))
      lastStepMs = performance.now()
      if (isMore) schedule(isBusy ? IDLE_AFTER_MS : 0)
    } catch {
      // Nothing is lost: the plants stay in the table, and a write meets the same disk and reports it.
      schedule(RETRY_AFTER_MS)
    }
  }

  function schedule(afterMs: number): void {
    if (!isStopped) timer ??= setTimeout(step, afterMs)
  }

  schedule(0)
  return {
    /** Tells that a batch was committed. */
    noteWrites(): void {
      lastWriteMs = performance.now()
      schedule(IDLE_AFTER_MS)
    },
    stop(): void {
      isStopped = true
      clearTimeout(timer)
    },
  }
}

function prepareStatements(database: DatabaseSync) {
  const prepare = (sql: string) => {
    const statement = database.prepare(sql)
    statement.setReadBigInts(true)
    return statement
  }
  return {
    selectBatches: prepare('SELECT position, plant_ids FROM unindexed_batches ORDER BY position'),
    deleteBatches: prepare('DELETE FROM unindexed_batches WHERE position <= ?'),
    selectName: prepare('SELECT substr(name, 1, 1000) AS name FROM plants WHERE id = ?'),
    deleteWords: prepare('DELETE FROM plant_words WHERE rowid = ?'),
    insertWords: prepare('INSERT INTO plant_words (rowid, words) VALUES (?, ?)'),
  }
}

function idsIn(bytes: Uint8Array): BigInt64Array {
  // Copied, as a view of 64-bit numbers must begin at a multiple of eight.
  return new BigInt64Array(bytes.slice().buffer)
}
