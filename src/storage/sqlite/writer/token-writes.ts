import type { DatabaseSync } from 'node:sqlite'
import type { StoredToken } from '../../../tokens/token.ts'
import type { HashedToken } from '../../storage.ts'
import { ALL_TOKEN_COLUMNS, tokenToRow } from '../../token-rows.ts'

/** The writes of tokens, each a part of the transaction that its caller has begun. */
export function createTokenWrites(database: DatabaseSync) {
  const columns = 'id, hash, label, scopes, created_at, expires_at'
  const insertToken = database.prepare(
    `INSERT INTO tokens (${columns}) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  )
  const insertFirstToken = database.prepare(
    `INSERT INTO tokens (${columns}) SELECT ?, ?, ?, ?, ?, ? WHERE NOT EXISTS (SELECT 1 FROM tokens)`,
  )
  const deleteToken = database.prepare('DELETE FROM tokens WHERE id = ?')
  const updateHash = database.prepare(
    `UPDATE tokens SET hash = ?2, previous_hash = CASE WHEN ?3 IS NULL THEN NULL ELSE hash END, previous_expires_at = ?3
     WHERE id = ?1`,
  )
  const updateTokenUse = database.prepare('UPDATE tokens SET last_used_at = ?2 WHERE id = ?1')
  const addToken = database.prepare(
    `INSERT INTO tokens (${ALL_TOKEN_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  )
  // `run` reports the last rowid of the connection, a plant's id maybe, and throws where it is no safe
  // number.
  for (const statement of [
    addToken,
    insertToken,
    insertFirstToken,
    deleteToken,
    updateHash,
    updateTokenUse,
  ]) {
    statement.setReadBigInts(true)
  }
  const insert = (
    statement: typeof insertToken,
    { id, label, scopes, createdAtMs, expiresAtMs }: StoredToken,
    hash: string,
  ) => statement.run(id, hash, label, scopes.join(' '), createdAtMs, expiresAtMs ?? null).changes !== 0n
  return {
    /** False when the id or the hash is in use. */
    create: (token: StoredToken, hash: string): boolean => insert(insertToken, token, hash),
    /** False when there is a token. */
    createFirst: (token: StoredToken, hash: string): boolean => insert(insertFirstToken, token, hash),
    add(token: HashedToken): void {
      addToken.run(...tokenToRow(token))
    },
    /** False when there was none. */
    revoke: (id: string): boolean => deleteToken.run(id).changes !== 0n,
    /** False when there was none. */
    rotate: (id: string, hash: string, graceEndsAtMs: number | undefined): boolean =>
      updateHash.run(id, hash, graceEndsAtMs ?? null).changes !== 0n,
    recordUse(id: string, atMs: number): void {
      updateTokenUse.run(id, atMs)
    },
  }
}
