import type { StoredToken } from './token.ts'

/**
 * Stores tokens with the hashes of their secrets, never the secrets. A write is durable when its promise fulfils.
 * Methods reject with the same errors as those of PlantStore.
 */
export interface TokenStore {
  /** The time by which tokens expire, in milliseconds since 1970: the same for all processes of one store. */
  nowMs(): number

  create(token: StoredToken, hash: string): Promise<void>

  /** Stores the token if the store has none, and returns whether it did. Of several replicas only one does. */
  createFirst(token: StoredToken, hash: string): Promise<boolean>

  /**
   * The token with this hash, even if it has expired; undefined if it is unknown or revoked. With the hash of an old
   * secret the token has `isReplaced`, and expires with its grace period at the latest.
   */
  findByHash(hash: string): Promise<StoredToken | undefined>

  /** All tokens that are not revoked, oldest first. */
  list(): Promise<StoredToken[]>

  /**
   * Gives a token a new secret by its hash, and returns the token; undefined if there is no such token. The previous
   * secret stays valid until `graceEndsAtMs`, without it not at all. Older ones are invalid. Takes effect on every
   * replica within 5 seconds.
   */
  rotate(id: string, hash: string, graceEndsAtMs?: number): Promise<StoredToken | undefined>

  /** Revokes a token; false if there is no such token. Takes effect on every replica within 5 seconds. */
  revoke(id: string): Promise<boolean>

  /** Records the use of a token. Not durable at once: losing it only affects `lastUsedAt`. */
  recordUse(id: string, usedAtMs: number): void
}
