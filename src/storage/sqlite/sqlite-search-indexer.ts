import type { DatabaseSync } from 'node:sqlite'
import { searchWords } from '../../plants/plant-search.ts'
import { inUnsyncedTransaction } from './sqlite-connection.ts'

/** Plants indexed in one transaction while writes keep coming: a few milliseconds that a write may have to wait. */
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
 * Keeps the search index up to date behind the writes. It stands off the acknowledged path, since inside the shared
 * commits it more than doubled the cost of a create; what remains to be indexed is in a table, so a crash loses none.
 */
export function createSearchIndexer(database: DatabaseSync) {
  const selectUnindexed = database.prepare(`
    SELECT position, plant_id, substr(name, 1, 1000) AS name
    FROM unindexed_plants LEFT JOIN plants ON plants.id = plant_id
    ORDER BY position LIMIT ?`)
  selectUnindexed.setReadBigInts(true)
  const deleteUnindexed = database.prepare('DELETE FROM unindexed_plants WHERE position <= ?')
  const deleteWords = database.prepare('DELETE FROM plant_words WHERE rowid = ?')
  const insertWords = database.prepare('INSERT INTO plant_words (rowid, words) VALUES (?, ?)')
  for (const statement of [deleteUnindexed, deleteWords, insertWords]) statement.setReadBigInts(true)

  let lastWriteMs = 0
  let lastStepMs = 0
  let timer: NodeJS.Timeout | undefined
  let isStopped = false

  /** Indexes up to `plantsMax` plants; false when none was left. */
  function indexSome(plantsMax: number): boolean {
    const rows = selectUnindexed.all(plantsMax)
    // A plant written twice stands here twice; its words are those of the plant as it is now.
    const names = new Map(rows.map((row) => [row.plant_id as bigint, row.name as string | null]))
    for (const [id, name] of names) {
      deleteWords.run(id)
      if (name !== null) insertWords.run(id, searchWords(name).join(' '))
    }
    const last = rows.at(-1)
    if (last !== undefined) deleteUnindexed.run(last.position as bigint)
    return rows.length === plantsMax
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
