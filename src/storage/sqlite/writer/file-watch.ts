import { realpathSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { rememberFiles } from '../connection/opened-files.ts'

/** How soon moved files are noticed while nothing is written. */
const CHECK_INTERVAL_MS = 1_000

export interface FileWatchOptions {
  /** The writing connection. It must have read: its log exists then. */
  database: DatabaseSync
  path: string
  /** Shared with other threads: 1 while the files are moved. */
  filesMoved: Int32Array
  warn(trouble: string): void
}

/**
 * Notices when the files of the open database are moved, removed or replaced. SQLite goes on writing to files without
 * a name, and the next start would find nothing of it.
 */
export interface FileWatch {
  /** Whether the files are known to be moved. They are looked at again only then. */
  stillMoved(): boolean
  /** Whether database and log are moved now: two calls of the system. Run it after every commit. */
  movedMeanwhile(): boolean
  stop(): void
}

export function createFileWatch({ database, path, filesMoved, warn }: FileWatchOptions): FileWatch {
  // SQLite names the side files after the file that a link leads to.
  const realPath = realpathSync(path)
  const databaseAndLog = rememberFiles(path, `${realPath}-wal`)
  // Only other processes need the name of the log's index: no look at every commit.
  const logIndex = rememberFiles(`${realPath}-shm`)
  const timer = setInterval(check, CHECK_INTERVAL_MS)

  const isMoved = () => Atomics.load(filesMoved, 0) === 1

  function record(isMovedNow: boolean): boolean {
    if (isMovedNow && !isMoved()) {
      warn(
        'The files of the database were moved, removed or replaced while they are open. Writes are rejected until they are back. Before you restart, rescue the open files.',
      )
    }
    Atomics.store(filesMoved, 0, isMovedNow ? 1 : 0)
    return isMovedNow
  }

  function look(): boolean {
    return record(!databaseAndLog.areInPlace() || !logIndex.areInPlace())
  }

  function check(): void {
    if (look()) saveLog()
  }

  /** What was acknowledged may be in a log that has no name any more. The database may still have one. */
  function saveLog(): void {
    try {
      database.exec('PRAGMA wal_checkpoint(PASSIVE)')
    } catch {
      // Tried again at the next check.
    }
  }

  return {
    stillMoved: () => isMoved() && look(),
    movedMeanwhile: () => !databaseAndLog.areInPlace() && record(true),
    stop: () => clearInterval(timer),
  }
}
