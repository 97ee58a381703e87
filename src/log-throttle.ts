/** The period in which log lines are counted. */
const PERIOD_MS = 1_000

/** Limits log lines about events that a client can cause by the thousand: they cost CPU time and fill the disk. */
export interface LogThrottle<Reason> {
  /** Whether this event gets a log line. If not, it is counted by its reason. */
  hasLine(reason: Reason): boolean
  /** Reports the events that were counted since the last report. */
  stop(): void
}

/**
 * Allows `linesASecondMax` lines a second. After a second with suppressed lines, `onSuppressed` gets their number by
 * reason, for one line.
 */
export function createLogThrottle<Reason>(
  linesASecondMax: number,
  onSuppressed: (suppressed: ReadonlyMap<Reason, number>) => void,
): LogThrottle<Reason> {
  let lines = 0
  let suppressed = new Map<Reason, number>()
  let timer: NodeJS.Timeout | undefined

  function reportSuppressed(): boolean {
    if (suppressed.size === 0) return false
    onSuppressed(suppressed)
    suppressed = new Map()
    return true
  }

  function startPeriod(): void {
    timer = setTimeout(() => {
      timer = undefined
      lines = reportSuppressed() ? 1 : 0
      if (lines > 0) startPeriod()
    }, PERIOD_MS).unref()
  }

  return {
    hasLine(reason) {
      if (timer === undefined) startPeriod()
      if (lines < linesASecondMax) {
        lines++
        return true
      }
      suppressed.set(reason, (suppressed.get(reason) ?? 0) + 1)
      return false
    },
    stop() {
      clearTimeout(timer)
      timer = undefined
      lines = 0
      reportSuppressed()
    },
  }
}
