export interface MinimumRate {
  bytes: number
  /** The time in which they must arrive. */
  withinMs: number
}

/** Watches the rate of a sender. Only the time in which it is awaited counts. */
export function watchRate({ bytes: bytesMin, withinMs }: MinimumRate) {
  let waitedMs = 0
  let bytes = 0
  return {
    onBytes(count: number): void {
      bytes += count
    },
    /** Adds a wait for the sender. Returns whether it was too slow in the last period. */
    isTooSlow(waitMs: number): boolean {
      waitedMs += waitMs
      if (waitedMs < withinMs) return false
      const isTooSlow = bytes < bytesMin
      waitedMs = 0
      bytes = 0
      return isTooSlow
    },
  }
}
