import { AppError, type OverloadReason } from '../../../errors.ts'
import { BoundedQueue } from '../../../load/bounded-queue.ts'
import { createSharedSlots } from '../../../load/shared-slots.ts'

/**
 * Beyond this, one more is rejected at once: a queued read is memory, and the last of so many waits for a large part of
 * a second where each is a plant, and longer where it is a page.
 */
const QUEUED_READS_MAX = 4_000

/** Searches take longer than pages: of more the last would wait for seconds. */
const QUEUED_SEARCHES_MAX = 240

/** Pages that are read at once, and as many searches: each may take 25 MB, and single rows find a slot beside them. */
const PAGES_MAX = 16

/** A few rows, a page of plants, or what looks at many plants to find some. */
export type ReadKind = 'row' | 'page' | 'search'

export interface ReadQueuesOptions {
  /** Reads of all kinds that run at once. */
  slots: number
  waitMaxMs: number
}

/** The queues before the connections, one for each kind of read. */
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
