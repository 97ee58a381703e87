import type { DatabaseSync } from 'node:sqlite'
import { KEY_COLUMNS, keyToRow } from '../../key-rows.ts'
import type { StoredIdempotencyKey } from '../../storage.ts'

/** The writes of idempotency keys by themselves, a part of the transaction that their caller has begun. */
export function createKeyWrites(database: DatabaseSync) {
  const insertKey = database.prepare(
    `INSERT INTO idempotency_keys (${KEY_COLUMNS}) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  )
  // `run` reports the last rowid of the connection, a plant's id maybe, and throws where it is no safe number.
  insertKey.setReadBigInts(true)
  return {
    add(keys: readonly StoredIdempotencyKey[]): void {
      for (const key of keys) insertKey.run(...keyToRow(key))
    },
  }
}
