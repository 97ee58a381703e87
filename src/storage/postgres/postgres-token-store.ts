import type { TokenStore } from '../../tokens/token-store.ts'
import { rowToToken, TOKEN_COLUMNS } from '../token-rows.ts'
import type { PostgresClient } from './postgres-client.ts'

export interface PostgresTokenStoreParts {
  /** Of one connection, so that writes take effect in the order in which they were called. */
  committer: PostgresClient
  pool: PostgresClient
}

/** Tokens in PostgreSQL. What it promises is written at `TokenStore`. */
export function createPostgresTokenStore({ committer, pool }: PostgresTokenStoreParts): TokenStore {
  const selectByHash = `SELECT ${TOKEN_COLUMNS} FROM tokens WHERE hash = $1`
  const selectAll = `SELECT ${TOKEN_COLUMNS} FROM tokens ORDER BY created_at, id COLLATE "C"`
  return {
    async create({ id, label, scopes, createdAtMs, expiresAtMs = null }, hash) {
      const { count } = await committer.write(
        (sql) => sql`
          INSERT INTO tokens (id, hash, label, scopes, created_at, expires_at)
          VALUES (${id}, ${hash}, ${label}, ${scopes.join(' ')}, ${createdAtMs}, ${expiresAtMs})
          ON CONFLICT DO NOTHING`,
      )
      if (count === 0) throw new Error('a token with this id or hash is stored already')
    },
    findByHash: (hash) =>
      pool.read(async (sql) => {
        const [row] = await sql.unsafe(selectByHash, [hash], { prepare: true })
        return row === undefined ? undefined : rowToToken(row)
      }),
    list: () =>
      pool.read(async (sql) => (await sql.unsafe(selectAll, [], { prepare: true })).map(rowToToken)),
    async revoke(id) {
      return (await committer.write((sql) => sql`DELETE FROM tokens WHERE id = ${id}`)).count > 0
    },
    noteUse(id, usedAtMs) {
      committer
        .write(
          (sql) => sql`
            UPDATE tokens SET last_used_at = greatest(last_used_at, ${usedAtMs}) WHERE id = ${id}`,
        )
        .catch(() => {
          // The promise of the interface: no promise.
        })
    },
  }
}
