/**
 * A commit has stalled when it takes so many times the usual duration and the longest lag. A single slower one, which
 * carries a checkpoint, has not.
 */
const STALL_FACTOR = 4
/** The weight of the last commit in the mean. */
const LATEST_SHARE = 0.3

export interface CommitLagOptions {
  /** How long a write may be queued before its commit begins. */
  lagMaxMs: number
  /** A clock that never goes back, in milliseconds. */
  nowMs?: (() => number) | undefined
}

/** Estimates how long a write would be queued before its commit begins, from the duration of the last commits. */
export interface CommitLag {
  /** Call it when a commit begins. */
  begin(): void
  /** Call it when the commit has ended. The duration of a failed one is ignored. */
  end(isDurable: boolean): void
  /**
   * Whether a write would be queued for too long after the running commit and this many whole batches. With no whole
   * batch before it, that is only so when other writes are queued already and the running commit has stalled.
   */
  isTooLong(waiting: { writes: number; batches: number }): boolean
}

export function createCommitLag({ lagMaxMs, nowMs = () => performance.now() }: CommitLagOptions): CommitLag {
  let begunMs: number | undefined
  let meanMs = 0
  /** Durations of the last two commits: the smaller one ignores a single slow commit, such as the first. */
  let lastMs = 0
  let previousMs = 0
  return {
    begin() {
      begunMs = nowMs()
    },
    end(isDurable) {
      if (isDurable && begunMs !== undefined) {
        previousMs = lastMs
        lastMs = nowMs() - begunMs
        meanMs += LATEST_SHARE * (lastMs - meanMs)
      }
      begunMs = undefined
    },
    isTooLong({ writes, batches }) {
      if (begunMs === undefined || writes === 0) return false
      const ageMs = nowMs() - begunMs
      const usualMs = Math.min(meanMs, lastMs, previousMs)
      if (ageMs > STALL_FACTOR * Math.max(lagMaxMs, usualMs)) return true
      return batches > 0 && Math.max(0, usualMs - ageMs) + batches * usualMs > lagMaxMs
    },
  }
}
