import type { Scope, StoredToken } from '../tokens/token.ts'
import type { HashedToken } from './storage.ts'

/** The columns of tokens, in every engine, save the hash. */
export const TOKEN_COLUMNS = 'id, label, scopes, created_at, expires_at, last_used_at'

/** The columns of a token that is added, in the order of `tokenToRow`. */
export const ALL_TOKEN_COLUMNS = `${TOKEN_COLUMNS}, hash, previous_hash, previous_expires_at`

/**
 * The query for the token that has a hash, or had it before it was rotated; `placeholder` stands for the hash. What
 * `rowToToken` makes of a token found by the older one expires at the end of the grace.
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
    createdAtMs: Number(row.created_at),
  }
  if (row.expires_at !== null) token.expiresAtMs = Number(row.expires_at)
  if (row.last_used_at !== null) token.lastUsedAtMs = Number(row.last_used_at)
  if (row.grace_ends_at !== undefined && row.grace_ends_at !== null) {
    token.isReplaced = true
    token.expiresAtMs = Math.min(token.expiresAtMs ?? Number.MAX_SAFE_INTEGER, Number(row.grace_ends_at))
  }
  return token
}
