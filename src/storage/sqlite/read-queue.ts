import { AppError } from '../../errors.ts'
import { BoundedQueue } from '../../load/bounded-queue.ts'
import { createEventLoopSlices } from '../../load/event-loop-slices.ts'

/** Beyond this, one more is rejected at once: of so many large pages the last would wait for ten seconds. */
const QUEUED_READS_MAX = 4_000

/**
 * A queue of reads of one kind in the main thread. Nothing interrupts a read that has begun; so they run in slices of
 * the event loop, and other requests are served in between.
 */
export function createReadQueue(): BoundedQueue {
  return new BoundedQueue({
    queuedMax: QUEUED_READS_MAX,
    slices: createEventLoopSlices(),
    overloaded: new AppError(50301, 'Too many reads are queued. Retry in a moment.', {
      reason: 'queued-reads',
    }),
  })
}
