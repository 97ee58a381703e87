import type { DatabaseSync } from 'node:sqlite'

/** Runs the work in an immediate transaction: no other writer comes between, and all of it is stored or nothing. */
export function inTransaction<Result>(database: DatabaseSync, work: () => Result): Result {
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    database.exec('COMMIT')
    return result
  } catch (error) {
    // On a full disk SQLite has already rolled back.
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}

/**
 * `inTransaction` for work that is simply repeated if a power failure undoes it. Its commit does not wait for the
 * disk, so it delays no write. It is on disk after the next synced commit.
 */
export function inUnsyncedTransaction<Result>(database: DatabaseSync, work: () => Result): Result {
  database.exec('PRAGMA synchronous = NORMAL')
  try {
    return inTransaction(database, work)
  } finally {
    database.exec('PRAGMA synchronous = FULL')
  }
}
