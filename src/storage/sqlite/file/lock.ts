import { DatabaseSync } from 'node:sqlite'
import { SetupError } from '../../../errors.ts'
import {
  fileReason,
  resultCodeOf,
  SQLITE_BUSY,
  SQLITE_CORRUPT,
  SQLITE_NOTADB,
} from '../connection/failure.ts'

/** Somebody who only looks into the store is done sooner; a service is not. */
const LOCK_TIMEOUT_MS = 1_000

/** A store that nobody else can open until it is let go. */
export interface DatabaseLock {
  /**
   * Puts what is in the log into the file, so that the file is all of the store. False when it is damaged. Throws a
   * SetupError where something else is in the way, a full disk, say: the store is whole with its log alone.
   */
  settle(): boolean
  release(): void
}

/**
 * Locks the store in the file. Every connection to a store with a log shares a lock on the file for as long as it
 * is open, an idle one as well, and an exclusive one cannot be had beside it. Throws a SetupError when somebody has
 * the store open, or nobody can tell. What SQLite takes for no database is open nowhere.
 */
export function lockDatabase(path: string): DatabaseLock {
  let database: DatabaseSync | undefined
  let isSound = true
  try {
    database = new DatabaseSync(path, { timeout: LOCK_TIMEOUT_MS })
    database.exec('PRAGMA locking_mode = EXCLUSIVE')
    database.exec('BEGIN EXCLUSIVE')
    database.exec('COMMIT')
  } catch (error) {
    isSound = !isDamage(error)
    if (isSound) {
      database?.close()
      if (resultCodeOf(error) === SQLITE_BUSY) {
        throw new SetupError(`${path} is in use: stop the service first, then try again.`)
      }
      // Whether somebody has it open cannot be known.
      throw new SetupError(
        `${path} cannot be replaced: ${fileReason(error)}. Run this as the user of the service, or move what is there away first.`,
        { cause: error },
      )
    }
  }
  return {
    settle() {
      try {
        // Ends the log, too: closed with one, SQLite would remove the log that is at this path by then.
        if (isSound) database?.exec('PRAGMA journal_mode = DELETE')
      } catch (error) {
        if (!isDamage(error)) {
          throw new SetupError(
            `${path} cannot be replaced: its log cannot be put into it: ${fileReason(error)}.`,
            { cause: error },
          )
        }
        isSound = false
      }
      return isSound
    },
    release() {
      if (database?.isOpen) database.close()
    },
  }
}

function isDamage(error: unknown): boolean {
  const code = resultCodeOf(error)
  return code === SQLITE_NOTADB || code === SQLITE_CORRUPT
}
