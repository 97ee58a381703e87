import type { DatabaseSync } from 'node:sqlite'
import { inUnsyncedTransaction } from '../connection/in-transaction.ts'

/** How often expired idempotency keys are removed, and how many at once, so that a purge delays no write. */
const PURGE_INTERVAL_MS = 5_000
const PURGE_KEYS_MAX = 1_000
/** The pause after a purge that reached its limit: more keys have expired. */
const PURGE_AGAIN_AFTER_MS = 50

/**
 * Removes expired idempotency keys, which have no effect, to free their space. `warn` is called with the reason of a
 * failure, once until it succeeds again.
 */
export function createKeyPurge(
  database: DatabaseSync,
  idempotencyTtlMs: number,
  warn: (warning: string) => void,
) {
  const deleteOldKeys = database.prepare(`
    DELETE FROM idempotency_keys WHERE (caller, key) IN
      (SELECT caller, key FROM idempotency_keys WHERE created_at < ? ORDER BY created_at LIMIT ?)`)
  deleteOldKeys.setReadBigInts(true)
  let isFailing = false
  let timer = setTimeout(purge, PURGE_INTERVAL_MS)

  function purge(): void {
    let removed = 0n
    try {
      const beforeMs = Date.now() - idempotencyTtlMs
      const purged = inUnsyncedTransaction(database, () => deleteOldKeys.run(beforeMs, PURGE_KEYS_MAX))
      removed = BigInt(purged.changes)
      isFailing = false
    } catch (error) {
      if (!isFailing) warn(`Expired idempotency keys cannot be removed: ${(error as Error).message}.`)
      isFailing = true
    }
    timer = setTimeout(purge, removed === BigInt(PURGE_KEYS_MAX) ? PURGE_AGAIN_AFTER_MS : PURGE_INTERVAL_MS)
  }

  return { stop: () => clearTimeout(timer) }
}
