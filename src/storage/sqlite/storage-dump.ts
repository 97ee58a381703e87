import type { GroupCommit } from '../batching/group-commit.ts'
import { KEY_COLUMNS, NO_KEY, rowToKey } from '../key-rows.ts'
import type { StorageDump } from '../storage.ts'
import { ALL_TOKEN_COLUMNS, rowToHashedToken } from '../token-rows.ts'
import type { Reader } from './reader.ts'
import type { Write, WriteOutcome } from './threads/write-batch.ts'

/** `StorageDump` on SQLite. */
export function createSqliteDump(reader: Reader, writes: GroupCommit<Write, WriteOutcome>): StorageDump {
  const selectTokens = reader.prepare(`SELECT ${ALL_TOKEN_COLUMNS} FROM tokens ORDER BY created_at, id`)
  const selectKeys = reader.prepare(
    `SELECT ${KEY_COLUMNS} FROM idempotency_keys WHERE (caller, key) > (?, ?) ORDER BY caller, key LIMIT ?`,
  )
  return {
    async tokens() {
      return reader.read(() => selectTokens.all()).map(rowToHashedToken)
    },
    async addPlants(plants) {
      await writes.submit({ kind: 'add-plants', plants })
    },
    async addTokens(tokens) {
      await Promise.all(tokens.map((token) => writes.submit({ kind: 'add-token', ...token })))
    },
    async keys(limit, { caller, key } = NO_KEY) {
      return reader.read(() => selectKeys.all(caller, key, limit)).map(rowToKey)
    },
    async addKeys(keys) {
      await writes.submit({ kind: 'add-keys', keys })
    },
  }
}
