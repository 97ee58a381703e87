/** How often the lag is measured: often enough to see an overload within a fraction of a second. */
const SAMPLE_MS = 20
/** Late samples in a row that count as lag: a garbage collection or one large response ends sooner. */
const LATE_IN_A_ROW = 3
/** Samples after the last call of `isTooLong`: an idle service is not woken up. */
const SAMPLES_AFTER = 50

export interface EventLoopLagOptions {
  /** How long a request may wait before it is read. */
  lagMaxMs: number
  /** A clock that never goes back, in milliseconds. */
  nowMs?: (() => number) | undefined
}

/**
 * Detects that requests wait too long before they are read. They wait in socket buffers, where nothing counts them,
 * but timers are late by the same time.
 */
export interface EventLoopLag {
  /**
   * Whether the lag has been over its limit for a while and has not fallen below half of it since. The lag is measured
   * only while this is called, and for a second after.
   */
  isTooLong(): boolean
}

export function createEventLoopLag({
  lagMaxMs,
  nowMs = () => performance.now(),
}: EventLoopLagOptions): EventLoopLag {
  let late = 0
  /** Samples still to take. */
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
