import type { Logger } from 'pino'
import { createLogThrottle } from '../../log-throttle.ts'

/**
 * Why a connection was dropped: too many connections in all, or from one address; a client that does not read its
 * response; too many unsent bytes in all.
 */
export type DropReason = 'connections' | 'connections-of-address' | 'unread' | 'unsent'

/** Called when a connection is dropped; `address` is the peer's, if known. */
export type OnDropped = (reason: DropReason, address: string | undefined) => void

export interface DropLog {
  onDropped: OnDropped
  /** Logs the connections that were counted since the last line. */
  stop(): void
}

/**
 * Counts dropped connections, and logs their number by reason with the address of the last one. At most one line a
 * second, so that an attack does not fill the disk.
 */
export function createDropLog(log: Logger, count: (reason: DropReason) => void = () => {}): DropLog {
  let clientAddress: string | undefined
  const logDropped = (dropped: ReadonlyMap<DropReason, number>) =>
    log.warn({ dropped: Object.fromEntries(dropped), clientAddress }, 'connections dropped')
  const lines = createLogThrottle(1, logDropped)
  return {
    onDropped(reason, address) {
      count(reason)
      clientAddress = address
      if (lines.hasLine(reason)) logDropped(new Map([[reason, 1]]))
    },
    stop: lines.stop,
  }
}
