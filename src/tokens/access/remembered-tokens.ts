import type { StoredToken } from '../token.ts'

/**
 * How long a token is trusted after it was asked for: with the time of a request, well under the promised 5
 * seconds.
 */
const TRUST_MS = 2_000

/** Tokens remembered at once; beyond it the longest remembered is read again. */
const REMEMBERED_TOKENS_MAX = 1_000

/** A token that was let in. */
export interface KnownToken {
  token: StoredToken
  /** Whether it is of the store, which notes its use. */
  isStored: boolean
}

/**
 * Tokens that were let in, by the whole Authorization field, so that a known one costs no hash. Unknown ones are never
 * remembered.
 */
export interface RememberedTokens {
  /** The token that was sent with this field, as long as it is trusted. */
  trusted(field: string | undefined): KnownToken | undefined
  /** Whether a token that was sent with this field was good, if only a while ago. */
  has(field: string): boolean
  /**
   * To be called before a token is asked for; returns what remembers the one that was found. Its trust begins now: what
   * becomes of it from now on may not be in the answer.
   */
  beginLook(): (field: string, known: KnownToken) => void
  /** Forgets what was sent with this field. */
  drop(field: string): void
  /** Forgets a token, whatever it was sent with, and what is on its way while it is forgotten. */
  forget(tokenId: string): void
}

export function createRememberedTokens(nowMs: () => number): RememberedTokens {
  const remembered = new Map<string, KnownToken & { askedAtMs: number }>()
  let forgettings = 0

  return {
    trusted(field) {
      const known = field === undefined ? undefined : remembered.get(field)
      if (known === undefined) return undefined
      const ageMs = nowMs() - known.askedAtMs
      // Below 0 where the clock was set back: then nobody knows how long ago it was.
      return ageMs >= 0 && ageMs < TRUST_MS ? known : undefined
    },
    has: (field) => remembered.has(field),
    beginLook() {
      const askedAtMs = nowMs()
      const forgettingsBefore = forgettings
      return (field, { token, isStored }) => {
        if (forgettings !== forgettingsBefore) return
        remembered.delete(field)
        if (remembered.size >= REMEMBERED_TOKENS_MAX) {
          const [oldest = ''] = remembered.keys()
          remembered.delete(oldest)
        }
        remembered.set(field, { token, isStored, askedAtMs })
      }
    },
    drop: (field) => void remembered.delete(field),
    forget(tokenId) {
      forgettings++
      for (const [field, { token }] of remembered) if (token.id === tokenId) remembered.delete(field)
    },
  }
}
