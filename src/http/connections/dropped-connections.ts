import type { Logger } from 'pino'
import { createLogThrottle } from '../../log-throttle.ts'

/**
 * Why a connection is cut off: too many in all or of an address; an answer that is not read; too much unsent in all.
 */
export type DropReason = 'connections' | 'connections-of-address' | 'unread' | 'unsent'

/** Tells that a connection is cut off, with the address of its other end where that is known. */
export type OnDropped = (reason: DropReason, address: string | undefined) => void

export interface DropLog {
  onDropped: OnDropped
  /** Tells what is counted and not yet told. */
  stop(): void
}

/**
 * Counts connections that are cut off, and logs how many there were, by reason, and the address of the last one: a line
 * a second at most, as whoever attacks would else fill the disk.
 */
export function createDropLog(log: Logger, count: (reason: DropReason) => void = () => {}): DropLog {
  let clientAddress: string | undefined
  const tell = (cut: ReadonlyMap<DropReason, number>) =>
    log.warn({ cut: Object.fromEntries(cut), clientAddress }, 'connections cut off')
  const lines = createLogThrottle(1, tell)
  return {
    onDropped(reason, address) {
      count(reason)
      clientAddress = address
      if (lines.hasLine(reason)) tell(new Map([[reason, 1]]))
    },
    stop: lines.stop,
  }
}
