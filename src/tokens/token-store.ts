import type { StoredToken } from './token.ts'

/**
 * Keeps tokens, by the hash of each; the token itself is never stored. Writes are durable when their promise
 * fulfils. Methods reject as those of PlantStore do.
 */
export interface TokenStore {
  /** The time by which tokens expire, in milliseconds since 1970: the same for all processes of one store. */
  nowMs(): number

  create(token: StoredToken, hash: string): Promise<void>

  /** Stores the token if there is none yet, and tells whether it did: of several replicas one does. */
  createFirst(token: StoredToken, hash: string): Promise<boolean>

  /**
   * The token with this hash, expired or not; undefined when it is unknown or revoked. One that had the hash before
   * it was rotated `isReplaced`, and expires when the grace ends at the latest.
   */
  findByHash(hash: string): Promise<StoredToken | undefined>

  /** Every token that is not revoked, the oldest first. */
  list(): Promise<StoredToken[]>

  /**
   * Gives a token the secret with this hash, and tells the token; undefined when there is none. The one that it had
   * is good until `graceEndsAtMs`, or no longer; one of before is dead. Seen on every replica within 5 seconds.
   */
  rotate(id: string, hash: string, graceEndsAtMs?: number): Promise<StoredToken | undefined>

  /** Revokes a token for good: false when there was none. It is dead on every replica within 5 seconds. */
  revoke(id: string): Promise<boolean>

  /** Notes that a token was used. Not durable at once, and no promise: losing it costs a time in a list. */
  recordUse(id: string, usedAtMs: number): void
}
