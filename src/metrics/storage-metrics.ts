import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { StorageActivity } from '../storage/storage.ts'

/** In seconds: an fsync takes 0.1 ms on a good disk, 10 ms on a spinning one, and a second on one that fails. */
const COMMIT_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]

/** Up to the most writes that share a commit. */
const WRITES_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]

/** Registers commits, queued writes, running exports and the search backlog. */
export function registerStorageMetrics(registry: Registry, activity: StorageActivity): void {
  const registers = [registry]
  const durations = new Histogram({
    name: 'plantstore_commit_duration_seconds',
    help: 'Duration of a shared commit, until its writes are durable',
    buckets: COMMIT_BUCKETS,
    registers,
  })
  const writes = new Histogram({
    name: 'plantstore_commit_writes',
    help: 'Writes that shared a commit; a chunk of an import is one write',
    buckets: WRITES_BUCKETS,
    registers,
  })
  const failures = new Counter({
    name: 'plantstore_commit_failures_total',
    help: 'Commits that failed: none of their writes was acknowledged',
    registers,
  })
  activity.onCommit(({ operations, durationMs, isDurable }) => {
    if (isDurable) {
      durations.observe(durationMs / 1000)
      writes.observe(operations)
    } else {
      failures.inc()
    }
  })
  new Gauge({
    name: 'plantstore_database_moved',
    help: '1 while the database files are moved, removed or replaced: writes are rejected',
    registers,
    collect() {
      this.set(activity.filesMoved() ? 1 : 0)
    },
  })
  new Gauge({
    name: 'plantstore_queued_writes',
    help: 'Writes that wait for a commit',
    registers,
    collect() {
      this.set(activity.queuedWrites())
    },
  })
  new Gauge({
    name: 'plantstore_running_exports',
    help: 'Exports that run',
    registers,
    collect() {
      this.set(activity.runningExports())
    },
  })
  new Gauge({
    name: 'plantstore_search_backlog_plants',
    help: 'Writes of plants that the search index lacks; absent while the storage cannot be read',
    registers,
    collect() {
      try {
        this.set(activity.unindexedPlants())
      } catch {
        // Other metrics report an unreadable storage; this one must not fail the whole scrape.
        this.remove()
      }
    },
  })
}
