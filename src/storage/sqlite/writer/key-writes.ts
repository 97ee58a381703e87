import type { DatabaseSync } from 'node:sqlite'
import { KEY_COLUMNS, keyToRow } from '../../key-rows.ts'
import type { StoredIdempotencyKey } from '../../storage.ts'
import { prepareExact } from './prepare-exact.ts'

/** Writes of idempotency keys without plants, within the transaction of the caller. */
export function createKeyWrites(database: DatabaseSync) {
  const insertKey = prepareExact(
    database,
    `INSERT INTO idempotency_keys (${KEY_COLUMNS}) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  )
  return {
    add(keys: readonly StoredIdempotencyKey[]): void {
      for (const key of keys) insertKey.run(...keyToRow(key))
    },
  }
}
