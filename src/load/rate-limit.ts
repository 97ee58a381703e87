/** Keys held at once, about 100 bytes each: far more than the tokens in use. */
const KEYS_MAX = 10_000

export interface RateLimitOptions {
  /** The policy's name in the header fields: letters, digits, `:` and `-`. */
  policy: string
  /** Requests of a key in a window, at least 1. They may come all at once; the quota refills steadily. */
  quota: number
  windowSeconds: number
  keysMax?: number
  /** A monotonic clock. */
  nowMs?: () => number
}

/** The quota that a key has left, as the header fields report it. */
export interface ServiceLimit {
  /** Whether the quota was used up. */
  isSpent: boolean
  /** The value of RateLimit (draft-ietf-httpapi-ratelimit-headers-11 §4). */
  field: string
  /** Seconds until the next request is allowed, at least 1: the value of Retry-After. */
  waitSeconds: number
}

export interface RateLimit {
  /** The value of RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers-11 §3). */
  readonly policyField: string
  /** Takes one request of the key, unless its quota is spent. */
  take(key: string): ServiceLimit
  /** `take` without taking. */
  peek(key: string): ServiceLimit
}

interface Use {
  /** The used quota, in requests times milliseconds of the window. */
  level: number
  atMs: number
}

/**
 * Limits the rate of each key with a leaky bucket. Holds at most `keysMax` keys: beyond it the oldest key is dropped
 * and starts with a full quota.
 */
export function createRateLimit({
  policy,
  quota,
  windowSeconds,
  keysMax = KEYS_MAX,
  nowMs = () => performance.now(),
}: RateLimitOptions): RateLimit {
  const windowMs = windowSeconds * 1_000
  // A request counts as `windowMs`, and a millisecond drains `quota`: integers, so nothing is rounded.
  const capacity = quota * windowMs
  const uses = new Map<string, Use>()

  function levelOf(use: Use | undefined, now: number): number {
    return use === undefined ? 0 : Math.max(0, use.level - (now - use.atMs) * quota)
  }

  function record(key: string, use: Use | undefined, level: number, atMs: number): void {
    if (use !== undefined) {
      use.level = level
      use.atMs = atMs
      return
    }
    if (uses.size >= keysMax) {
      const [oldest = ''] = uses.keys()
      uses.delete(oldest)
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
      record(key, use, level + windowMs, now)
      return limitAt(level + windowMs, false)
    },
    peek(key) {
      const level = levelOf(uses.get(key), nowMs())
      return limitAt(level, level + windowMs > capacity)
    },
  }
}
