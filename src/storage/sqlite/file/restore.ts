import { chownSync, existsSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { SetupError } from '../../../errors.ts'
import { followLinks } from '../../follow-links.ts'
import { makeFolder } from '../../make-folder.ts'
import { fileReason } from '../connection/failure.ts'
import { SIDE_FILES } from '../connection/side-files.ts'
import type { MaintenanceOptions } from './back-up.ts'
import type { DatabaseCopy } from './copy.ts'
import { type DatabaseLock, lockDatabase } from './lock.ts'
import { runMaintenance } from './maintenance.ts'
import {
  createPartialFile,
  isFile,
  keepAlsoAs,
  publishPartialFile,
  removeLeftovers,
  removePartialFile,
  syncFile,
  syncFolder,
} from './partial-file.ts'

/** Between the name of a replaced database and the time of its replacement. */
const KEPT_MARK = '.before-restore-'

export interface RestoredDatabase extends DatabaseCopy {
  /** The new path of the replaced database. */
  keptAs: string | undefined
}

/**
 * Restores the backup in `file` to `path` after checking it. The database that was at `path` is kept beside it. Throws
 * a SetupError and changes nothing if `file` is not an intact backup, if `path` is in use, or if it exists and may not
 * be replaced.
 */
export async function restoreDatabase(
  file: string,
  path: string,
  { signal, mayReplace, onProgress }: MaintenanceOptions,
): Promise<RestoredDatabase> {
  if (!isFile(file)) throw new SetupError(`There is no backup ${file}: name the file of a backup.`)
  const isThere = isFile(path)
  if (!isThere && existsSync(path)) throw new SetupError(`${path} is not a file: name another path.`)
  let lock: DatabaseLock | undefined
  let partial: string | undefined
  try {
    const target = followLinks(path)
    checkIsApart(realpathSync(file), target)
    if (isThere) lock = lockDatabase(target)
    if (isThere && !mayReplace) {
      throw new SetupError(
        `There is a database at ${path}: name another path with --database, or replace it with --force, which keeps the old one beside it.`,
      )
    }
    makeFolder(dirname(target))
    const ours = basename(target)
    removeLeftovers(dirname(target), (name) => name === ours || name.startsWith(ours + KEPT_MARK))
    partial = createPartialFile(target)
    const job = { kind: 'copy', from: file, to: partial, isThrottled: false, isForeign: true } as const
    const copy = await runMaintenance(job, { signal, onProgress })
    signal.throwIfAborted()
    giveToOwner(partial, isThere ? target : dirname(target))
    if (!isThere && existsSync(target)) {
      throw new SetupError(`A database was created at ${path} during the restore: stop the service first.`)
    }
    // Synced first, as that can take long: the old database has two names only for a moment.
    syncFile(partial)
    const keptAs = putAside(target, lock)
    // Windows does not replace an open file.
    if (process.platform === 'win32') lock?.release()
    publishPartialFile(partial, target)
    return { ...copy, keptAs }
  } catch (error) {
    if (error instanceof SetupError || signal.aborted) throw error
    throw new SetupError(`The backup cannot be restored to ${path}: ${fileReason(error)}.`, { cause: error })
  } finally {
    lock?.release()
    if (partial !== undefined) removePartialFile(partial)
  }
}

function checkIsApart(file: string, target: string): void {
  if (file === target) throw new SetupError(`${file} is the database itself: name a backup of it.`)
  if (SIDE_FILES.some((end) => file + end === target || target + end === file)) {
    throw new SetupError(`${file} and ${target} are files of one database: name another path.`)
  }
}

/** If root restores a database, gives it to the owner of the old file or of the folder. */
function giveToOwner(path: string, model: string): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(model)
  chownSync(path, uid, gid)
}

/**
 * Links the old database to another name until it is replaced. Its log must not stay: SQLite would apply it to the new
 * file.
 */
function putAside(target: string, lock: DatabaseLock | undefined): string | undefined {
  const aside = `${target}${KEPT_MARK}${new Date().toISOString().replace(/[-:.]/g, '')}`
  const isWhole = lock?.mergeLog() ?? false
  if (lock !== undefined) keepAlsoAs(target, aside)
  let isKept = lock !== undefined
  for (const end of SIDE_FILES) {
    if (!existsSync(target + end)) continue
    if (isWhole || end === '-shm') rmSync(target + end, { force: true })
    else {
      renameSync(target + end, aside + end)
      isKept = true
    }
  }
  // A power failure must not undo this alone: the old log would be beside the new file.
  syncFolder(dirname(target))
  return isKept ? aside : undefined
}
