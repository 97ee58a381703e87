import { DatabaseSync } from 'node:sqlite'
import { SetupError } from '../../../errors.ts'
import {
  fileReason,
  resultCodeOf,
  SQLITE_BUSY,
  SQLITE_CORRUPT,
  SQLITE_NOTADB,
} from '../connection/failure.ts'
import { rejectLinkedSideFiles } from '../connection/side-files.ts'

/** Longer than a command that only reads holds its lock; a service holds it always. */
const LOCK_TIMEOUT_MS = 1_000

/** An exclusive lock on a database file: no other process can open it until `release`. */
export interface DatabaseLock {
  /**
   * Checkpoints the log, so that the file alone is the whole database. False if the database is damaged. Throws a
   * SetupError for other failures, such as a full disk: then the database still needs its log.
   */
  mergeLog(): boolean
  release(): void
}

/**
 * Locks a database file. Every open connection in WAL mode, even an idle one, holds a shared lock, which excludes this
 * lock. Throws a SetupError if another process has the file open, or if that cannot be determined. A file that is not a
 * database, or a damaged one, counts as locked.
 */
export function lockDatabase(path: string): DatabaseLock {
  rejectLinkedSideFiles(path)
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
      throw new SetupError(
        `${path} cannot be replaced: ${fileReason(error)}. Run this as the user of the service, or move the file away first.`,
        { cause: error },
      )
    }
  }
  return {
    mergeLog() {
      try {
        // Leaves WAL mode: otherwise the close would remove the log that is at this path by then.
        if (isSound) database?.exec('PRAGMA journal_mode = DELETE')
      } catch (error) {
        if (!isDamage(error)) {
          throw new SetupError(
            `${path} cannot be replaced: its log cannot be merged into it: ${fileReason(error)}.`,
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
