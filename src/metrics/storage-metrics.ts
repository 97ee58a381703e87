import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { StorageActivity } from '../storage/storage.ts'

/** In seconds: an fsync takes 0.1 ms on a good disk, 10 ms on a spinning one, and a second on one that fails. */
const COMMIT_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]

/** Up to the most that share a commit. */
const WRITES_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]

/** Commits and what waits for one, in `registry`. */
export function registerStorageMetrics(registry: Registry, activity: StorageActivity): void {
  const registers = [registry]
  const durations = new Histogram({
    name: 'plantstore_commit_duration_seconds',
    help: 'From the hand-over of writes that share a commit until they are durable',
    buckets: COMMIT_BUCKETS,
    registers,
  })
  const writes = new Histogram({
    name: 'plantstore_commit_writes',
    help: 'Writes that shared a commit; a step of an import is one',
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
    name: 'plantstore_queued_writes',
    help: 'Writes that wait for a commit',
    registers,
    collect() {
      this.set(activity.queuedWrites())
    },
  })
  new Gauge({
    name: 'plantstore_exports_under_way',
    help: 'Exports that are being answered',
    registers,
    collect() {
      this.set(activity.exportsUnderWay())
    },
  })
  new Gauge({
    name: 'plantstore_search_backlog_plants',
    help: 'Plants that wait to be indexed for search, once for each of their writes; absent while nobody can say',
    registers,
    collect() {
      try {
        this.set(activity.unindexedPlants())
      } catch {
        // A storage that cannot be read is told by other figures, and takes none of them along.
        this.remove()
      }
    },
  })
}
