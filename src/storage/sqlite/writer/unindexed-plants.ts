import type { DatabaseSync } from 'node:sqlite'
import { prepareExact } from './prepare-exact.ts'

/** The plants that a transaction has written, stored for the search indexer. */
export interface UnindexedPlants {
  /** Call it at the start of a transaction. */
  begin(): void
  record(id: bigint): void
  /** Call it before the commit: stores the recorded ids. */
  store(): void
}

export function createUnindexedPlants(database: DatabaseSync): UnindexedPlants {
  const insertBatch = prepareExact(database, 'INSERT INTO unindexed_batches (plant_ids) VALUES (?)')
  let ids: bigint[] = []
  return {
    begin() {
      ids = []
    },
    record(id) {
      ids.push(id)
    },
    store() {
      if (ids.length > 0) insertBatch.run(new Uint8Array(BigInt64Array.from(ids).buffer))
    },
  }
}
