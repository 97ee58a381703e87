import type { DatabaseSync, StatementSync } from 'node:sqlite'

/**
 * Prepares a statement with bigint results: `run` returns the last rowid of the connection, which may be any int64
 * here, and throws if that is not a safe number.
 */
export function prepareExact(database: DatabaseSync, sql: string): StatementSync {
  const statement = database.prepare(sql)
  statement.setReadBigInts(true)
  return statement
}
