import { AppError, type OverloadReason } from '../../../errors.ts'
import { BoundedQueue } from '../../../load/bounded-queue.ts'
import { createSharedSlots } from '../../../load/shared-slots.ts'

/** Queued reads take memory. With this many the last one waits for most of a second, with pages even longer. */
const QUEUED_READS_MAX = 4_000

/** Searches take longer than pages: with more the last one would wait for seconds. */
const QUEUED_SEARCHES_MAX = 240

/** Pages that are read at once, and as many searches. Each may take 25 MB; the other slots are for single rows. */
const PAGES_MAX = 16

/** A read of a few rows, of a page of plants, or one that scans many plants. */
export type ReadKind = 'row' | 'page' | 'search'

export interface ReadQueuesOptions {
  /** Reads of all kinds that run at once. */
  slots: number
  waitMaxMs: number
}

/** The queues for the connections, one for each kind of read. */
export function createReadQueues({ slots, waitMaxMs }: ReadQueuesOptions): Record<ReadKind, BoundedQueue> {
  const reason: OverloadReason = 'queued-reads'
  const overloaded = new AppError(50301, 'Too many reads are queued. Retry in a moment.', { reason })
  const common = { waitMaxMs, overloaded, sharedSlots: createSharedSlots(slots) }
  return {
    row: new BoundedQueue({ ...common, slots, queuedMax: QUEUED_READS_MAX }),
    page: new BoundedQueue({ ...common, slots: Math.min(slots, PAGES_MAX), queuedMax: QUEUED_READS_MAX }),
    search: new BoundedQueue({
      ...common,
      slots: Math.min(slots, PAGES_MAX),
      queuedMax: QUEUED_SEARCHES_MAX,
    }),
  }
}
