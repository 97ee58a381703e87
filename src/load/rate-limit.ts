/** Keys remembered at once, about 100 bytes each: far more tokens than a service has in use. */
export const KEYS_MAX = 10_000

export interface RateLimitOptions {
  /** What the header fields call it: letters, digits, `:` and `-`. */
  policy: string
  /** Requests that a key may make in a window: at once, and again as the time goes by. At least 1. */
  quota: number
  windowSeconds: number
  keysMax?: number
  /** A clock that never goes back. */
  nowMs?: () => number
}

/** What a key may still do, as the header fields tell it. */
export interface ServiceLimit {
  /** Whether nothing was left. */
  isSpent: boolean
  /** The value of RateLimit (draft-ietf-httpapi-ratelimit-headers-11 §4). */
  field: string
  /** After how many seconds there is one more: at least 1, as Retry-After has it. */
  waitSeconds: number
}

export interface RateLimit {
  /** The value of RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers-11 §3). */
  readonly policyField: string
  /** Takes one request of the key, unless its quota is spent. */
  take(key: string): ServiceLimit
  /** `take` without taking. */
  look(key: string): ServiceLimit
}

interface Use {
  /** What is used, in requests times milliseconds of the window. */
  level: number
  atMs: number
}

/**
 * Counts the requests of each key, as a bucket that drains steadily. Holds at most `keysMax` keys: beyond it the
 * longest known one is forgotten, and begins anew.
 */
export function createRateLimit({
  policy,
  quota,
  windowSeconds,
  keysMax = KEYS_MAX,
  nowMs = () => performance.now(),
}: RateLimitOptions): RateLimit {
  const windowMs = windowSeconds * 1_000
  // A request is worth a window, and a millisecond drains the quota: so whole numbers do, and nothing is rounded.
  const capacity = quota * windowMs
  const uses = new Map<string, Use>()

  function levelOf(use: Use | undefined, now: number): number {
    return use === undefined ? 0 : Math.max(0, use.level - (now - use.atMs) * quota)
  }

  function note(key: string, use: Use | undefined, level: number, atMs: number): void {
    if (use !== undefined) {
      use.level = level
      use.atMs = atMs
      return
    }
    if (uses.size >= keysMax) {
      const [longestKnown = ''] = uses.keys()
      uses.delete(longestKnown)
    }
    uses.set(key, { level, atMs })
  }

  function limitAt(level: number, isSpent: boolean): ServiceLimit {
    const available = Math.floor((capacity - level) / windowMs)
    const waitSeconds = Math.max(1, Math.ceil((level + windowMs - capacity) / quota / 1_000))
    return { isSpent, field: `"${policy}";r=${available};t=${waitSeconds}`, waitSeconds }
  }

  return {
    policyField: `"${policy}";q=${quota};w=${windowSeconds}`,
    take(key) {
      const now = nowMs()
      const use = uses.get(key)
      const level = levelOf(use, now)
      if (level + windowMs > capacity) return limitAt(level, true)
      note(key, use, level + windowMs, now)
      return limitAt(level + windowMs, false)
    },
    look(key) {
      const level = levelOf(uses.get(key), nowMs())
      return limitAt(level, level + windowMs > capacity)
    },
  }
}
