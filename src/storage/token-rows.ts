import { expressibleTime } from '../plants/time-text.ts'
import type { Scope, StoredToken } from '../tokens/token.ts'
import type { HashedToken } from './storage.ts'

/** The columns of tokens without the hashes, in both engines. */
export const TOKEN_COLUMNS = 'id, label, scopes, created_at, expires_at, last_used_at'

/** All columns of tokens, in the order of `tokenToRow`. */
export const ALL_TOKEN_COLUMNS = `${TOKEN_COLUMNS}, hash, previous_hash, previous_expires_at`

/**
 * The query for the token with a hash, or with that hash before its rotation. `placeholder` stands for the hash. A
 * token found by its previous hash expires at the end of the grace period.
 */
export function selectTokenByHash(placeholder: string): string {
  return `
    SELECT ${TOKEN_COLUMNS}, NULL AS grace_ends_at FROM tokens WHERE hash = ${placeholder}
    UNION ALL
    SELECT ${TOKEN_COLUMNS}, previous_expires_at FROM tokens WHERE previous_hash = ${placeholder}`
}

export function tokenToRow({ token, hash, previous }: HashedToken): (string | number | null)[] {
  const { id, label, scopes, createdAtMs, expiresAtMs = null, lastUsedAtMs = null } = token
  const row = [id, label, scopes.join(' '), createdAtMs, expiresAtMs, lastUsedAtMs, hash]
  return [...row, previous?.hash ?? null, previous?.expiresAtMs ?? null]
}

export function rowToHashedToken(row: Readonly<Record<string, unknown>>): HashedToken {
  const hashed: HashedToken = { token: rowToToken(row), hash: String(row.hash) }
  if (row.previous_hash !== null) {
    hashed.previous = { hash: String(row.previous_hash), expiresAtMs: Number(row.previous_expires_at) }
  }
  return hashed
}

export function rowToToken(row: Readonly<Record<string, unknown>>): StoredToken {
  const token: StoredToken = {
    id: row.id as string,
    label: row.label as string,
    scopes: row.scopes === '' ? [] : (String(row.scopes).split(' ') as Scope[]),
    createdAtMs: timeOf(row.created_at),
  }
  if (row.expires_at !== null) token.expiresAtMs = timeOf(row.expires_at)
  if (row.last_used_at !== null) token.lastUsedAtMs = timeOf(row.last_used_at)
  if (row.grace_ends_at !== undefined && row.grace_ends_at !== null) {
    token.isReplaced = true
    token.expiresAtMs = Math.min(token.expiresAtMs ?? Number.MAX_SAFE_INTEGER, Number(row.grace_ends_at))
  }
  return token
}

/** A damaged database may hold a time without a date. */
function timeOf(value: unknown): number {
  return expressibleTime(Number(value))
}
