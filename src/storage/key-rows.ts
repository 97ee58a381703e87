import type { StoredIdempotencyKey } from './storage.ts'

/** The columns of idempotency keys, in every engine, in the order of `keyToRow`. */
export const KEY_COLUMNS = 'caller, key, fingerprint, plant_version, created_at'

/** Sorts before every key, as neither part of a key is empty. */
export const NO_KEY = { caller: '', key: '' }

export function keyToRow(stored: StoredIdempotencyKey): (string | number)[] {
  const { caller, key, fingerprint, plantVersion, createdAtMs } = stored
  return [caller, key, fingerprint, plantVersion, createdAtMs]
}

export function rowToKey(row: Readonly<Record<string, unknown>>): StoredIdempotencyKey {
  return {
    caller: String(row.caller),
    key: String(row.key),
    fingerprint: String(row.fingerprint),
    plantVersion: Number(row.plant_version),
    createdAtMs: Number(row.created_at),
  }
}
