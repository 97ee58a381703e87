import type { Logger } from 'pino'
import { type ErrorCode, meaningOf } from '../errors.ts'

/** Enough to see what is going on; whoever sends requests without a good token by the thousand does not fill the disk. */
const LINES_A_SECOND_MAX = 10

/**
 * What a request is refused with that needs no good token, or is more than it may; and what every request is refused
 * with while the storage is away or full: the log may be on the same disk.
 */
const FLOODING: ReadonlySet<ErrorCode> = new Set<ErrorCode>([40101, 40102, 42901, 50302, 50701])

export interface RefusalLog {
  /**
   * Says whether a refusal with this code gets a line of its own. Of what can come by the thousand, as its code tells or
   * as is known, that is ten a second; the others are counted by their code, and told when the second is over.
   */
  hasLine(code: ErrorCode, isFlooding?: boolean): boolean
  /** Tells what is counted and not yet told. */
  stop(): void
}

export function createRefusalLog(log: Logger): RefusalLog {
  let secondBeganMs = Number.NEGATIVE_INFINITY
  let told = 0
  let leftOut = new Map<ErrorCode, number>()
  let timer: NodeJS.Timeout | undefined

  function tellLeftOut(): void {
    clearTimeout(timer)
    timer = undefined
    if (leftOut.size === 0) return
    // Of the same level as the lines that are left out.
    const isFault = [...leftOut.keys()].some((code) => meaningOf(code).status >= 500)
    log[isFault ? 'error' : 'info']({ leftOut: Object.fromEntries(leftOut) }, 'more requests refused')
    leftOut = new Map()
  }

  return {
    hasLine(code, isFlooding = FLOODING.has(code)) {
      if (!isFlooding) return true
      const nowMs = performance.now()
      if (nowMs - secondBeganMs >= 1_000) {
        tellLeftOut()
        secondBeganMs = nowMs
        told = 0
      }
      told++
      if (told <= LINES_A_SECOND_MAX) return true
      leftOut.set(code, (leftOut.get(code) ?? 0) + 1)
      timer ??= setTimeout(tellLeftOut, 1_000).unref()
      return false
    },
    stop: tellLeftOut,
  }
}
