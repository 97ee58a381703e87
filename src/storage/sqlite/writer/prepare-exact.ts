import type { DatabaseSync, StatementSync } from 'node:sqlite'

/**
 * Prepares a statement whose integers are bigints: `run` reports the last rowid of the connection, which is any int64
 * here, and throws where it is no safe number.
 */
export function prepareExact(database: DatabaseSync, sql: string): StatementSync {
  const statement = database.prepare(sql)
  statement.setReadBigInts(true)
  return statement
}
