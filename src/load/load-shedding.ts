import { AppError } from '../errors.ts'
import type { EventLoopLag } from './event-loop-lag.ts'

/**
 * Queued writes up to which event-loop lag sheds none: a full batch. A rejection costs half as much as a create.
 * Rejecting every write would keep the event loop as late and commit nothing.
 */
const SHED_NONE_BELOW = 512

// Created once: under overload the cost of a rejection counts.
const EVENT_LOOP_LAG = new AppError(50301, 'Too many requests are queued. Retry in a moment.', {
  reason: 'event-loop-lag',
})
const WRITE_LAG = new AppError(50301, 'Too many writes are queued. Retry in a moment.', {
  reason: 'write-lag',
})

export interface LoadSheddingOptions {
  eventLoopLag: EventLoopLag
  /** Whether a write would wait too long for its commit. */
  isStorageLagging(): boolean
  /** Writes that wait for a commit now. */
  queuedWrites(): number
}

/** The error (50301) that rejects a new write, or undefined if it may start. */
export type LoadShedding = () => AppError | undefined

/**
 * Rejects writes that would wait too long, before their body is read: the response is immediate and costs less than
 * the write. Reads are never shed, as none waits for a commit.
 */
export function createLoadShedding({
  eventLoopLag,
  isStorageLagging,
  queuedWrites,
}: LoadSheddingOptions): LoadShedding {
  return () => {
    if (isStorageLagging()) return WRITE_LAG
    // Called for each write, as the lag is measured only then.
    return eventLoopLag.isTooLong() && queuedWrites() >= SHED_NONE_BELOW ? EVENT_LOOP_LAG : undefined
  }
}
