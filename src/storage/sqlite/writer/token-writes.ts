import type { DatabaseSync } from 'node:sqlite'
import type { StoredToken } from '../../../tokens/token.ts'
import type { HashedToken } from '../../storage.ts'
import { ALL_TOKEN_COLUMNS, tokenToRow } from '../../token-rows.ts'
import { prepareExact } from './prepare-exact.ts'

/** Writes of tokens, within the transaction of the caller. */
export function createTokenWrites(database: DatabaseSync) {
  const columns = 'id, hash, label, scopes, created_at, expires_at'
  const insertToken = prepareExact(
    database,
    `INSERT INTO tokens (${columns}) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  )
  const insertFirstToken = prepareExact(
    database,
    `INSERT INTO tokens (${columns}) SELECT ?, ?, ?, ?, ?, ? WHERE NOT EXISTS (SELECT 1 FROM tokens)`,
  )
  const deleteToken = prepareExact(database, 'DELETE FROM tokens WHERE id = ?')
  const updateHash = prepareExact(
    database,
    `UPDATE tokens SET hash = ?2, previous_hash = CASE WHEN ?3 IS NULL THEN NULL ELSE hash END, previous_expires_at = ?3
     WHERE id = ?1`,
  )
  const updateTokenUse = prepareExact(database, 'UPDATE tokens SET last_used_at = ?2 WHERE id = ?1')
  const addToken = prepareExact(
    database,
    `INSERT INTO tokens (${ALL_TOKEN_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  )
  const insert = (
    statement: typeof insertToken,
    { id, label, scopes, createdAtMs, expiresAtMs }: StoredToken,
    hash: string,
  ) => statement.run(id, hash, label, scopes.join(' '), createdAtMs, expiresAtMs ?? null).changes !== 0n
  return {
    /** False if the id or the hash is in use. */
    create: (token: StoredToken, hash: string): boolean => insert(insertToken, token, hash),
    /** False if there is a token. */
    createFirst: (token: StoredToken, hash: string): boolean => insert(insertFirstToken, token, hash),
    add(token: HashedToken): void {
      addToken.run(...tokenToRow(token))
    },
    /** False if there is no such token. */
    revoke: (id: string): boolean => deleteToken.run(id).changes !== 0n,
    /** False if there is no such token. */
    rotate: (id: string, hash: string, graceEndsAtMs: number | undefined): boolean =>
      updateHash.run(id, hash, graceEndsAtMs ?? null).changes !== 0n,
    recordUse(id: string, atMs: number): void {
      updateTokenUse.run(id, atMs)
    },
  }
}
