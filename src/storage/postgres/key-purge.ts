import type { PostgresClient } from './connection/client.ts'

/** How often idempotency keys past their time are removed: each replica does, so few are left at any time. */
const PURGE_INTERVAL_MS = 30_000

/** Removes idempotency keys that are past their time. They have no effect any more; this frees their space. */
export function startKeyPurge(
  client: PostgresClient,
  { idempotencyTtlMs, nowMs }: { idempotencyTtlMs: number; nowMs: () => number },
) {
  const timer = setInterval(() => {
    const beforeMs = nowMs() - idempotencyTtlMs
    client
      .write((sql) => sql`DELETE FROM idempotency_keys WHERE created_at < ${beforeMs}`)
      .catch(() => {
        // A database that fails is told to whoever writes next; the keys wait.
      })
  }, PURGE_INTERVAL_MS)
  timer.unref()
  return { stop: () => clearInterval(timer) }
}
