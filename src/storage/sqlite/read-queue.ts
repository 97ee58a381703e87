import { AppError } from '../../errors.ts'
import { BoundedQueue } from '../../load/bounded-queue.ts'
import { createEventLoopSlices } from '../../load/event-loop-slices.ts'

/** With this many large pages the last one would wait for ten seconds. */
const QUEUED_READS_MAX = 4_000

/**
 * A queue of reads in the main thread. A read blocks the event loop until it is done, so reads run in slices and other
 * requests run in between.
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
