/** A pause in the writes of this length is taken for the end of a burst. */
export const IDLE_AFTER_MS = 5
/**
 * Without a pause, writes that take less than this share of the time leave enough of it, too: otherwise one
 * create every few milliseconds would keep a million imported plants from being found for minutes. Under as many
 * creates as the service can take they take twice as much.
 */
const BUSY_SHARE_MIN = 0.2
/** Over so long the share is taken. */
const SHARE_WINDOW_MS = 100

/** How much of the writing thread's time the writes take, and whether indexing has to give way to them. */
export function createWriteLoad() {
  let lastWriteMs = Number.NEGATIVE_INFINITY
  let windowFromMs = performance.now()
  let writingMs = 0
  let indexingMs = 0
  /** Until it is known, all of it. */
  let share = 1
  return {
    /** Writes were committed just now, which took so long. */
    recordWrites(tookMs: number): void {
      lastWriteMs = performance.now()
      writingMs += tookMs
      const windowMs = lastWriteMs - windowFromMs
      if (windowMs < SHARE_WINDOW_MS) return
      // Of what indexing left of the time: what it took, writes may have wanted.
      share = writingMs / (windowMs - indexingMs)
      windowFromMs = lastWriteMs
      writingMs = 0
      indexingMs = 0
    },
    /** A step of indexing has ended, which took so long. */
    recordIndexing(tookMs: number): void {
      indexingMs += tookMs
    },
    isBusy: () => performance.now() - lastWriteMs < IDLE_AFTER_MS && share >= BUSY_SHARE_MIN,
  }
}
