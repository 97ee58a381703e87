/** The pause in the writes that ends a burst. */
export const IDLE_AFTER_MS = 5
/**
 * Constant writes below this share of the time leave enough for indexing: otherwise a create every few milliseconds
 * would delay the indexing of a million imported plants for minutes. At the service's maximum, creates take twice this
 * share.
 */
const BUSY_SHARE_MIN = 0.2
/** The window over which the share is measured. */
const SHARE_WINDOW_MS = 100

/**
 * Measures the share of the writer thread's time that writes take, which decides whether indexing gives way to them.
 */
export function createWriteLoad() {
  let lastWriteMs = Number.NEGATIVE_INFINITY
  let windowFromMs = performance.now()
  let writingMs = 0
  let indexingMs = 0
  /** All of the time until it is measured. */
  let share = 1
  return {
    /** Call it after each commit, with its duration. */
    recordWrites(tookMs: number): void {
      lastWriteMs = performance.now()
      writingMs += tookMs
      const windowMs = lastWriteMs - windowFromMs
      if (windowMs < SHARE_WINDOW_MS) return
      // Without the time of indexing, during which writes may have waited.
      share = writingMs / (windowMs - indexingMs)
      windowFromMs = lastWriteMs
      writingMs = 0
      indexingMs = 0
    },
    /** Call it after each step of indexing, with its duration. */
    recordIndexing(tookMs: number): void {
      indexingMs += tookMs
    },
    isBusy: () => performance.now() - lastWriteMs < IDLE_AFTER_MS && share >= BUSY_SHARE_MIN,
  }
}
