import type { PostgresClient } from './connection/client.ts'

/** How often each replica removes expired idempotency keys. */
const PURGE_INTERVAL_MS = 30_000

/** Removes expired idempotency keys, which have no effect, to free their space. */
export function startKeyPurge(
  client: PostgresClient,
  { idempotencyTtlMs, nowMs }: { idempotencyTtlMs: number; nowMs: () => number },
) {
  const timer = setInterval(() => {
    const beforeMs = nowMs() - idempotencyTtlMs
    client
      .write((sql) => sql`DELETE FROM idempotency_keys WHERE created_at < ${beforeMs}`)
      .catch(() => {
        // The next write reports the failure of the database; the keys are removed later.
      })
  }, PURGE_INTERVAL_MS)
  timer.unref()
  return { stop: () => clearInterval(timer) }
}
