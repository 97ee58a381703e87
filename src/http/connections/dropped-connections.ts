import type { Logger } from 'pino'
import { createLimitedLines } from '../../log-throttle.ts'

/** Why a connection is cut off: too many in all or of an address; an answer that is not read; too much unsent in all. */
export type CutReason = 'connections' | 'connections-of-address' | 'unread' | 'unsent'

/** Tells that a connection is cut off, with the address of its other end where that is known. */
export type CutNote = (reason: CutReason, address: string | undefined) => void

export interface CutLog {
  noteCut: CutNote
  /** Tells what is counted and not yet told. */
  stop(): void
}

/**
 * Counts connections that are cut off, and logs how many there were, by reason, and the address of the last one: a line
 * a second at most, as whoever attacks would else fill the disk.
 */
export function createCutLog(log: Logger, count: (reason: CutReason) => void = () => {}): CutLog {
  let clientAddress: string | undefined
  const tell = (cut: ReadonlyMap<CutReason, number>) =>
    log.warn({ cut: Object.fromEntries(cut), clientAddress }, 'connections cut off')
  const lines = createLimitedLines(1, tell)
  return {
    noteCut(reason, address) {
      count(reason)
      clientAddress = address
      if (lines.hasLine(reason)) tell(new Map([[reason, 1]]))
    },
    stop: lines.stop,
  }
}
