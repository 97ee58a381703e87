/** The time that lines of the log are counted in. */
const PERIOD_MS = 1_000

/**
 * Bounds the lines of the log about what may come by the thousand: each would cost more than it tells, and fill the
 * disk.
 */
export interface LogThrottle<Reason> {
  /** Says whether this one gets a line of its own. If not it is counted, by reason. */
  hasLine(reason: Reason): boolean
  /** Tells what is counted and not yet told. */
  stop(): void
}

/**
 * Lets so many lines a second through; when one is over, `onSuppressed` is told how many more there were, in one of
 * them.
 */
export function createLogThrottle<Reason>(
  linesASecondMax: number,
  onSuppressed: (leftOut: ReadonlyMap<Reason, number>) => void,
): LogThrottle<Reason> {
  let lines = 0
  let leftOut = new Map<Reason, number>()
  let timer: NodeJS.Timeout | undefined

  function tell(): boolean {
    if (leftOut.size === 0) return false
    onSuppressed(leftOut)
    leftOut = new Map()
    return true
  }

  function beginSecond(): void {
    timer = setTimeout(() => {
      timer = undefined
      lines = tell() ? 1 : 0
      if (lines > 0) beginSecond()
    }, PERIOD_MS).unref()
  }

  return {
    hasLine(reason) {
      if (timer === undefined) beginSecond()
      if (lines < linesASecondMax) {
        lines++
        return true
      }
      leftOut.set(reason, (leftOut.get(reason) ?? 0) + 1)
      return false
    },
    stop() {
      clearTimeout(timer)
      timer = undefined
      lines = 0
      tell()
    },
  }
}
