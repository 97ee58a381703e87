import type { StoredToken } from '../../tokens/token.ts'
import type { TokenStore } from '../../tokens/token-store.ts'
import type { GroupCommit } from '../batching/group-commit.ts'
import { rowToToken, selectTokenByHash, TOKEN_COLUMNS } from '../token-rows.ts'
import type { Reader } from './reader.ts'
import type { Write, WriteOutcome } from './threads/write-batch.ts'

/** `TokenStore` on SQLite. */
export function createSqliteTokenStore(
  reader: Reader,
  writes: GroupCommit<Write, WriteOutcome>,
  nowMs: () => number,
): TokenStore {
  const selectByHash = reader.prepare(selectTokenByHash('?1'))
  const selectById = reader.prepare(`SELECT ${TOKEN_COLUMNS} FROM tokens WHERE id = ?`)
  const selectAll = reader.prepare(`SELECT ${TOKEN_COLUMNS} FROM tokens ORDER BY created_at, id`)
  // A damaged time may be no safe integer.
  for (const statement of [selectByHash, selectById, selectAll]) statement.setReadBigInts(true)
  function find(select: typeof selectById, key: string): StoredToken | undefined {
    const row = reader.read(() => select.get(key))
    return row === undefined ? undefined : rowToToken(row)
  }
  return {
    nowMs,
    findByHash: async (hash) => find(selectByHash, hash),
    async create(token, hash) {
      const { outcome } = await writes.submit({ kind: 'create-token', token, hash })
      if (outcome !== 'done') throw new Error('a token with this id or hash is stored already')
    },
    async createFirst(token, hash) {
      return (await writes.submit({ kind: 'create-first-token', token, hash })).outcome === 'done'
    },
    async list() {
      return reader.read(() => selectAll.all()).map(rowToToken)
    },
    async rotate(id, hash, graceEndsAtMs) {
      const { outcome } = await writes.submit({ kind: 'rotate-token', id, hash, graceEndsAtMs })
      // Found by id: its hash may have changed again by now.
      return outcome === 'done' ? find(selectById, id) : undefined
    },
    async revoke(id) {
      return (await writes.submit({ kind: 'revoke-token', id })).outcome === 'done'
    },
    recordUse(id, usedAtMs) {
      writes.submit({ kind: 'record-token-use', id, atMs: usedAtMs }).catch(() => {
        // Not guaranteed, as the interface says.
      })
    },
  }
}
