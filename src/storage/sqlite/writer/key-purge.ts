import type { DatabaseSync } from 'node:sqlite'
import { inUnsyncedTransaction } from '../connection/in-transaction.ts'

/**
 * How often idempotency keys past their time are removed, and how many at once: a purge holds up no write.
 */
const PURGE_INTERVAL_MS = 5_000
const PURGE_KEYS_MAX = 1_000
/**
 * While a purge finds as many as it may remove, the next one follows soon: keys can come faster than it
 * looks.
 */
const PURGE_AGAIN_AFTER_MS = 50

/**
 * Removes idempotency keys that are past their time. They have no effect any more; this frees their space. `warn` is
 * called with the reason why that cannot be done, once until it can again.
 */
export function createKeyPurge(
  database: DatabaseSync,
  idempotencyTtlMs: number,
  warn: (trouble: string) => void,
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
      // The keys wait.
      if (!isFailing) warn(`Idempotency keys past their time cannot be removed: ${(error as Error).message}.`)
      isFailing = true
    }
    timer = setTimeout(purge, removed === BigInt(PURGE_KEYS_MAX) ? PURGE_AGAIN_AFTER_MS : PURGE_INTERVAL_MS)
  }

  return { stop: () => clearTimeout(timer) }
}
