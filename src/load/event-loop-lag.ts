/** How often the lag is measured: often enough to see an overload within a fraction of a second. */
const SAMPLE_MS = 20
/**
 * So many measurements in a row: a collection of garbage or a single long answer is over before, and then nobody is to
 * be refused for it.
 */
const LATE_IN_A_ROW = 3
/** Measured so often after the last question: a service that is idle is not woken up for it. */
const SAMPLES_AFTER = 50

export interface EventLoopLagOptions {
  /** How long a request may have to wait until it is read. */
  lagMaxMs: number
  /** A clock that never goes back, in milliseconds. */
  nowMs?: (() => number) | undefined
}

/**
 * Tells whether requests wait too long until they are read. They wait in the buffers of the system, where nothing
 * counts them; but as long as they wait, a timer is late.
 */
export interface EventLoopLag {
  /**
   * Whether the lag has been over its limit for a while, and not fallen under a half of it since. It is measured
   * only while somebody asks, and shortly after.
   */
  isTooLong(): boolean
}

export function createEventLoopLag({
  lagMaxMs,
  nowMs = () => performance.now(),
}: EventLoopLagOptions): EventLoopLag {
  let late = 0
  /** Measurements to come. */
  let samples = 0

  function run(): void {
    const dueMs = nowMs() + SAMPLE_MS
    setTimeout(() => {
      const lagMs = nowMs() - dueMs
      if (lagMs > lagMaxMs) late++
      else if (late < LATE_IN_A_ROW || lagMs < lagMaxMs / 2) late = 0
      samples--
      if (samples > 0) run()
      else late = 0
    }, SAMPLE_MS).unref()
  }

  return {
    isTooLong() {
      if (samples === 0) run()
      samples = SAMPLES_AFTER
      return late >= LATE_IN_A_ROW
    },
  }
}
