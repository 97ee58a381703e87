import type { Scope, StoredToken } from '../tokens/token.ts'
import type { HashedToken } from './storage.ts'

/** The columns of tokens, in every engine, save the hash. */
export const TOKEN_COLUMNS = 'id, label, scopes, created_at, expires_at, last_used_at'

/** The columns of a token that is added, in the order of `tokenToRow`. */
export const TOKEN_COLUMNS_WITH_HASH = `${TOKEN_COLUMNS}, hash`

export function tokenToRow({ token, hash }: HashedToken): (string | number | null)[] {
  const { id, label, scopes, createdAtMs, expiresAtMs = null, lastUsedAtMs = null } = token
  return [id, label, scopes.join(' '), createdAtMs, expiresAtMs, lastUsedAtMs, hash]
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
  return token
}
