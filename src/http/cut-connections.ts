import type { Logger } from 'pino'

/** Why a connection is cut off: too many in all or of an address; an answer that is not read; too much unsent in all. */
export type CutReason = 'connections' | 'connections-of-address' | 'unread' | 'unsent'

/** Tells that a connection is cut off, with the address of its other end where that is known. */
export type CutNote = (reason: CutReason, address: string | undefined) => void

/** Whoever attacks would else fill the disk. */
const LINE_EVERY_MS = 1_000

/**
 * Counts connections that are cut off, and logs them, a line a second at most: the first at once, then how many there were since, by
 * reason, and the address of the last one.
 */
export function createCutNote(log: Logger, count: (reason: CutReason) => void = () => {}): CutNote {
  let counts = new Map<CutReason, number>()
  let clientAddress: string | undefined
  let timer: NodeJS.Timeout | undefined

  function tell(): void {
    if (counts.size === 0) {
      timer = undefined
      return
    }
    log.warn({ cut: Object.fromEntries(counts), clientAddress }, 'connections cut off')
    counts = new Map()
    timer = setTimeout(tell, LINE_EVERY_MS)
    timer.unref()
  }

  return (reason, address) => {
    count(reason)
    counts.set(reason, (counts.get(reason) ?? 0) + 1)
    clientAddress = address
    if (timer === undefined) tell()
  }
}
