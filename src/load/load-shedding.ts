import { AppError } from '../errors.ts'
import type { EventLoopLag } from './event-loop-lag.ts'

/**
 * So many are taken however late the event loop is: a full commit. To refuse costs half as much as to create, so
 * to refuse all would keep it as late, and nothing would be done until the clients go away.
 */
const TAKEN_ALWAYS = 512

// One of each is enough, as nothing in them differs: under overload it counts what a refusal costs.
const EVENT_LOOP_LAGS = new AppError(50301, 'Too many requests are queued. Retry in a moment.', {
  reason: 'event-loop-lag',
})
const STORE_LAGS = new AppError(50301, 'Too many writes are queued. Retry in a moment.', {
  reason: 'write-lag',
})

export interface LoadSheddingOptions {
  eventLoopLag: EventLoopLag
  /** Whether a write would wait too long in the store. */
  isStoreLagging(): boolean
  /** Writes that wait for a commit now. */
  queuedWrites(): number
}

/** The refusal (50301) of a request that writes, or undefined where it may begin; what has begun is finished. */
export type LoadShedding = () => AppError | undefined

/**
 * Refuses writes that would wait too long, before their body is read: a refusal is there at once, and costs
 * less than the write. Reads are not asked: none waits for a commit.
 */
export function createLoadShedding({
  eventLoopLag,
  isStoreLagging,
  queuedWrites,
}: LoadSheddingOptions): LoadShedding {
  return () => {
    if (isStoreLagging()) return STORE_LAGS
    // Asked for each write, as the lag is measured only then.
    return eventLoopLag.isTooLong() && queuedWrites() >= TAKEN_ALWAYS ? EVENT_LOOP_LAGS : undefined
  }
}
