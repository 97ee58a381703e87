import { AppError } from '../../errors.ts'
import { BoundedQueue } from '../../load/bounded-queue.ts'
import type { StoredToken } from '../../tokens/token.ts'
import type { TokenStore } from '../../tokens/token-store.ts'
import { rowToToken, selectTokenByHash, TOKEN_COLUMNS } from '../token-rows.ts'
import type { PostgresClient, Sql, Transaction } from './connection/client.ts'
import { inTransaction } from './connection/in-transaction.ts'

/** One connection runs them, after the commits; with this many the last one waits for a fraction of a second. */
const WRITES_MAX = 1_000

/** The advisory lock for creating the first token; an arbitrary number. */
const FIRST_TOKEN_LOCK = 7_152_668_311_002n

export interface PostgresTokenStoreOptions {
  /** Has one connection, so that writes take effect in the order of their calls. */
  committer: PostgresClient
  pool: PostgresClient
  /** Whether the database is a Citus cluster. */
  isSharded: boolean
  nowMs: () => number
}

/** `TokenStore` on PostgreSQL. */
export function createPostgresTokenStore({
  committer,
  pool,
  isSharded,
  nowMs,
}: PostgresTokenStoreOptions): TokenStore {
  const selectByHash = selectTokenByHash('$1')
  const selectAll = `SELECT ${TOKEN_COLUMNS} FROM tokens ORDER BY created_at, id COLLATE "C"`
  // It may be retried after its response was lost: then the hash is already the new one and previous_hash must stay.
  const updateHash = `
    UPDATE tokens
    SET hash = $2, previous_expires_at = $3,
      previous_hash = CASE WHEN $3::bigint IS NULL THEN NULL WHEN hash = $2 THEN previous_hash ELSE hash END
    WHERE id = $1 RETURNING ${TOKEN_COLUMNS}`
  // Skips a locked row: the commits use the same connection and would wait for the lock, too. A sharded database keeps
  // copies of each token, and they could skip it differently.
  const updateLastUse = `
    UPDATE tokens SET last_used_at = greatest(last_used_at, $2) WHERE id =
      ${isSharded ? '$1' : '(SELECT id FROM tokens WHERE id = $1 FOR NO KEY UPDATE SKIP LOCKED)'}`
  // The driver queues the writes for its connection; this limits their number.
  const queue = new BoundedQueue({
    slots: WRITES_MAX,
    queuedMax: 0,
    overloaded: new AppError(50301, 'Too many writes of tokens are queued. Retry in a moment.', {
      reason: 'queued-writes',
    }),
  })

  /** Rejects with 50301 when too many writes are queued, and as the committer does. */
  const write = <Result>(work: (sql: Sql) => Promise<Result>) => queue.run(() => committer.write(work))

  return {
    nowMs,
    async create(token, hash) {
      if (!(await write((sql) => insert(sql, token, hash)))) {
        throw new Error('a token with this id or hash is stored already')
      }
    },
    createFirst: (token, hash) =>
      write((sql) =>
        inTransaction(sql, async (transaction) => {
          // An advisory lock, as rows that do not exist cannot be locked.
          await transaction`SELECT pg_advisory_xact_lock(${FIRST_TOKEN_LOCK})`
          const some = await transaction`SELECT 1 FROM tokens LIMIT 1`
          return some.length === 0 && insert(transaction, token, hash)
        }),
      ),
    findByHash: (hash) =>
      pool.read(async (sql) => {
        const [row] = await sql.unsafe(selectByHash, [hash], { prepare: true })
        return row === undefined ? undefined : rowToToken(row)
      }),
    list: () =>
      pool.read(async (sql) => (await sql.unsafe(selectAll, [], { prepare: true })).map(rowToToken)),
    async rotate(id, hash, graceEndsAtMs) {
      const values = [id, hash, graceEndsAtMs ?? null]
      const [row] = await write((sql) => sql.unsafe(updateHash, values, { prepare: true }))
      return row === undefined ? undefined : rowToToken(row)
    },
    async revoke(id) {
      return (await write((sql) => sql`DELETE FROM tokens WHERE id = ${id}`)).count > 0
    },
    recordUse(id, usedAtMs) {
      write((sql) => sql.unsafe(updateLastUse, [id, usedAtMs], { prepare: true })).catch(() => {
        // Not guaranteed, as the interface says.
      })
    },
  }
}

/** False if the id or the hash is in use. */
async function insert(sql: Sql | Transaction, token: StoredToken, hash: string): Promise<boolean> {
  const { id, label, scopes, createdAtMs, expiresAtMs = null } = token
  const { count } = await sql`
    INSERT INTO tokens (id, hash, label, scopes, created_at, expires_at)
    VALUES (${id}, ${hash}, ${label}, ${scopes.join(' ')}, ${createdAtMs}, ${expiresAtMs})
    ON CONFLICT DO NOTHING`
  return count > 0
}
