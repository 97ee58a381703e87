import type { DatabaseSync } from 'node:sqlite'

/** The plants that a transaction has written, left for the search index to take up. */
export interface UnindexedPlants {
  /** To be called when a transaction has begun. */
  begin(): void
  note(id: bigint): void
  /** To be called before the commit: stores what was noted. */
  store(): void
}

export function createUnindexedPlants(database: DatabaseSync): UnindexedPlants {
  const insertBatch = database.prepare('INSERT INTO unindexed_batches (plant_ids) VALUES (?)')
  // `run` reports the last rowid, which is any int64 here and throws where it is no safe number.
  insertBatch.setReadBigInts(true)
  let ids: bigint[] = []
  return {
    begin() {
      ids = []
    },
    note(id) {
      ids.push(id)
    },
    store() {
      if (ids.length > 0) insertBatch.run(new Uint8Array(BigInt64Array.from(ids).buffer))
    },
  }
}
