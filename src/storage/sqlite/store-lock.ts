import { DatabaseSync } from 'node:sqlite'
import { SetupError } from '../../errors.ts'
import { resultCodeOf, SQLITE_BUSY } from './sqlite-connection.ts'

/** Somebody who only looks into the store is done sooner; a service is not. */
const LOCK_TIMEOUT_MS = 1_000

/** A store that nobody else can open until it is let go. */
export interface StoreLock {
  /**
   * Puts what is in the log into the file, so that the file is all of the store. False when it cannot: it is
   * damaged.
   */
  settle(): boolean
  release(): void
}

/**
 * Locks the store in the file. Every connection to a store with a log shares a lock on the file for as long as it
 * is open, an idle one as well, and an exclusive one cannot be had beside it. Throws a SetupError when somebody has
 * the store open. A file that SQLite cannot read is open nowhere.
 */
export function lockStore(path: string): StoreLock {
  const database = new DatabaseSync(path, { timeout: LOCK_TIMEOUT_MS })
  let isSound = true
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE')
    database.exec('BEGIN EXCLUSIVE')
    database.exec('COMMIT')
  } catch (error) {
    if (resultCodeOf(error) === SQLITE_BUSY) {
      database.close()
      throw new SetupError(`${path} is in use: stop the service first, then try again.`)
    }
    isSound = false
  }
  return {
    settle() {
      try {
        // Ends the log, too: closed with one, SQLite would remove the log that is at this path by then.
        if (isSound) database.exec('PRAGMA journal_mode = DELETE')
      } catch {
        isSound = false
      }
      return isSound
    },
    release() {
      if (database.isOpen) database.close()
    },
  }
}
