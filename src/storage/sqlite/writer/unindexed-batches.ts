import type { DatabaseSync } from 'node:sqlite'
import { ID_MIN } from '../../../plants/plant.ts'

/**
 * Plants that are brought into the order of their ids at once, for some 20 milliseconds. Without it a million
 * plants whose ids came in no order took three times as long to index: neighbours share pages of the table, and
 * ids that do not rise are a segment of the index each time.
 */
const SORTED_PLANTS_MAX = 131_072

/** Plants that wait to be indexed, as they were written: a batch for each transaction. */
export interface UnindexedBatches {
  /** The ids in the first batches, as many as it takes to reach `plantsMax`, and where the last one is. */
  first(plantsMax: number): { ids: BigInt64Array; lastPosition: bigint }
  remove(lastPosition: bigint): void
  /**
   * Writes the first batches anew, as batches of `plantsMax` or more, in the order of the ids, where they hold
   * more than one of these; false when there was no need. To be called in a transaction, as are the others.
   */
  sort(plantsMax: number): boolean
}

export function createUnindexedBatches(database: DatabaseSync): UnindexedBatches {
  const prepare = (sql: string) => {
    const statement = database.prepare(sql)
    statement.setReadBigInts(true)
    return statement
  }
  const selectNext = prepare('SELECT min(position) AS position FROM unindexed_batches')
  const selectAll = prepare('SELECT position, plant_ids FROM unindexed_batches ORDER BY position')
  const deleteFirst = prepare('DELETE FROM unindexed_batches WHERE position <= ?')
  const insert = prepare('INSERT INTO unindexed_batches (position, plant_ids) VALUES (?, ?)')
  /** Batches up to this one are in order already. */
  let sortedPosition = ID_MIN

  // As one array of 64-bit numbers: a hundred thousand bigints would leave 50 MB of heap behind.
  function read(plantsMax: number): { ids: BigInt64Array; positions: bigint[] } {
    const batches: Uint8Array[] = []
    const positions: bigint[] = []
    let count = 0
    for (const { position, plant_ids } of selectAll.iterate()) {
      positions.push(position as bigint)
      batches.push(plant_ids as Uint8Array)
      count += (plant_ids as Uint8Array).length / BigInt64Array.BYTES_PER_ELEMENT
      if (count >= plantsMax) break
    }
    const ids = new BigInt64Array(count)
    const bytes = new Uint8Array(ids.buffer)
    let end = 0
    for (const batch of batches) {
      bytes.set(batch, end)
      end += batch.length
    }
    return { ids, positions }
  }

  function remove(lastPosition: bigint): void {
    deleteFirst.run(lastPosition)
    // Places are taken again once all are free.
    if (lastPosition >= sortedPosition) sortedPosition = ID_MIN
  }

  return {
    first(plantsMax) {
      const { ids, positions } = read(plantsMax)
      return { ids, lastPosition: positions.at(-1) ?? ID_MIN }
    },
    remove,
    sort(plantsMax) {
      const next = selectNext.get()?.position as bigint | null
      if (next === null || next <= sortedPosition) return false
      const { ids, positions } = read(SORTED_PLANTS_MAX)
      if (ids.length <= plantsMax) return false
      const sorted = withoutRepetitions(ids.sort())
      remove(positions.at(-1) ?? ID_MIN)
      // No more batches than there were, so that none gets the place of one behind them.
      const count = Math.min(positions.length, Math.ceil(sorted.length / plantsMax))
      const size = Math.ceil(sorted.length / count)
      for (let at = 0; at * size < sorted.length; at++) {
        sortedPosition = positions[at] as bigint
        insert.run(sortedPosition, new Uint8Array(sorted.slice(at * size, (at + 1) * size).buffer))
      }
      return true
    },
  }
}

/** Moves the different ones of sorted ids together; those alone. */
function withoutRepetitions(ids: BigInt64Array): BigInt64Array {
  let count = 1
  for (let at = 1; at < ids.length; at++) {
    const id = ids[at] as bigint
    if (id !== ids[at - 1]) ids[count++] = id
  }
  return ids.subarray(0, count)
}
