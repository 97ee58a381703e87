/**
 * A commit that takes so many times as long as one usually does, and as anything may wait, has come to a halt. One
 * that is slower for once, as it carries a checkpoint of the store, has not.
 */
const HALT_FACTOR = 4
/** How much of what a commit usually takes the last one decides. */
const LATEST_SHARE = 0.3

export interface CommitLagOptions {
  /** How long a write may have to wait for its commit to begin. */
  lagMaxMs: number
  /** A clock that never goes back, in milliseconds. */
  nowMs?: (() => number) | undefined
}

/** Foresees how long a write would have to wait for its commit to begin, from how long the last ones took. */
export interface CommitLag {
  /** To be told when a commit begins. */
  begin(): void
  /** And when it has ended; one that failed tells nothing of how long they take. */
  end(isDurable: boolean): void
  /**
   * Whether a write would wait longer than it may behind this many whole batches, and the commit under way. What would
   * share the next commit (none before it) waits too long only where others do already, and the commit under way has
   * come to a halt.
   */
  isTooLong(waiting: { writes: number; batches: number }): boolean
}

export function createCommitLag({ lagMaxMs, nowMs = () => performance.now() }: CommitLagOptions): CommitLag {
  let begunMs: number | undefined
  let meanMs = 0
  let lastMs = 0
  return {
    begin() {
      begunMs = nowMs()
    },
    end(isDurable) {
      if (isDurable && begunMs !== undefined) {
        lastMs = nowMs() - begunMs
        meanMs += LATEST_SHARE * (lastMs - meanMs)
      }
      begunMs = undefined
    },
    isTooLong({ writes, batches }) {
      if (begunMs === undefined || writes === 0) return false
      const ageMs = nowMs() - begunMs
      // A single slow one counts in neither: it moves the mean, but the next one is quick again.
      const usualMs = Math.min(meanMs, lastMs)
      if (ageMs > HALT_FACTOR * Math.max(lagMaxMs, usualMs)) return true
      return batches > 0 && Math.max(0, usualMs - ageMs) + batches * usualMs > lagMaxMs
    },
  }
}
