import type { DatabaseSync } from 'node:sqlite'
import { ID_MIN } from '../../../plants/plant.ts'
import { prepareExact } from './prepare-exact.ts'

/**
 * Plants that are sorted by id at once, which takes about 20 milliseconds. A million plants in random order of their
 * ids took three times as long to index unsorted: neighbours share pages of the table, and each descending id starts a
 * new segment of the index.
 */
const SORTED_PLANTS_MAX = 131_072

/** Plants that are not indexed yet, in the batches in which they were written. Call each method in a transaction. */
export interface UnindexedBatches {
  /** The ids in the first batches, until they reach `plantsMax`, and the position of the last of these batches. */
  first(plantsMax: number): { ids: BigInt64Array; lastPosition: bigint }
  /** Removes the batches up to this position. */
  remove(lastPosition: bigint): void
  /**
   * Rewrites the first batches sorted by id, as batches of `plantsMax` or more. False if they were sorted already or
   * have at most `plantsMax` plants.
   */
  sort(plantsMax: number): boolean
}

export function createUnindexedBatches(database: DatabaseSync): UnindexedBatches {
  const prepare = (sql: string) => prepareExact(database, sql)
  const selectNext = prepare('SELECT min(position) AS position FROM unindexed_batches')
  const selectAll = prepare('SELECT position, plant_ids FROM unindexed_batches ORDER BY position')
  const deleteFirst = prepare('DELETE FROM unindexed_batches WHERE position <= ?')
  const insert = prepare('INSERT INTO unindexed_batches (position, plant_ids) VALUES (?, ?)')
  /** Batches up to this one are sorted. */
  let sortedPosition = ID_MIN

  // A typed array: a hundred thousand bigints would leave a heap of 50 MB.
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
    // SQLite reuses positions once the table is empty.
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
      const sorted = withoutDuplicates(ids.sort())
      remove(positions.at(-1) ?? ID_MIN)
      // Not more batches than before, so that none takes the position of a later one.
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

/** Removes duplicates from sorted ids, in place. */
function withoutDuplicates(ids: BigInt64Array): BigInt64Array {
  let count = 1
  for (let at = 1; at < ids.length; at++) {
    const id = ids[at] as bigint
    if (id !== ids[at - 1]) ids[count++] = id
  }
  return ids.subarray(0, count)
}
