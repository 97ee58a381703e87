import { KEY_COLUMNS, keyToRow, NO_KEY, rowToKey } from '../key-rows.ts'
import type { StorageDump } from '../storage.ts'
import { ALL_TOKEN_COLUMNS, rowToHashedToken, tokenToRow } from '../token-rows.ts'
import { insertPlants } from './commit/insert-plants.ts'
import type { PostgresClient } from './connection/client.ts'
import { inTransaction } from './connection/in-transaction.ts'

/** `StorageDump` on PostgreSQL. */
export function createPostgresDump(committer: PostgresClient): StorageDump {
  const selectTokens = `SELECT ${ALL_TOKEN_COLUMNS} FROM tokens ORDER BY created_at, id COLLATE "C"`
  const insertToken = `INSERT INTO tokens (${ALL_TOKEN_COLUMNS}) VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9) ON CONFLICT DO NOTHING`
  const selectKeys = `SELECT ${KEY_COLUMNS} FROM idempotency_keys WHERE (caller, key) > ($1, $2) ORDER BY caller, key LIMIT $3`
  const insertKey = `INSERT INTO idempotency_keys (${KEY_COLUMNS}) VALUES ($1,$2,$3,$4,$5) ON CONFLICT DO NOTHING`
  return {
    tokens: () =>
      committer.read(async (sql) => {
        return (await sql.unsafe(selectTokens, [], { prepare: true })).map(rowToHashedToken)
      }),
    async addPlants(plants) {
      await committer.write((sql) => insertPlants(sql, plants))
    },
    async addTokens(tokens) {
      for (const token of tokens) {
        await committer.write((sql) => sql.unsafe(insertToken, tokenToRow(token), { prepare: true }))
      }
    },
    keys: (limit, { caller, key } = NO_KEY) =>
      committer.read(async (sql) =>
        (await sql.unsafe(selectKeys, [caller, key, limit], { prepare: true })).map(rowToKey),
      ),
    async addKeys(keys) {
      await committer.write((sql) =>
        inTransaction(sql, (transaction) =>
          Promise.all(keys.map((key) => transaction.unsafe(insertKey, keyToRow(key), { prepare: true }))),
        ),
      )
    },
  }
}
