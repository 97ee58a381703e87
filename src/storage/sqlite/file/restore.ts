import { chownSync, existsSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { SetupError } from '../../../errors.ts'
import { makeFolder } from '../../make-folder.ts'
import { fileReason } from '../connection/failure.ts'
import type { StoreWorkOptions } from './back-up.ts'
import type { StoreCopy } from './copy.ts'
import { type DatabaseLock, lockDatabase } from './lock.ts'
import { runMaintenance } from './maintenance.ts'
import {
  createPartialFile,
  followLinks,
  isFile,
  keepAlsoAs,
  publishPartialFile,
  removeLeftovers,
  removePartialFile,
  SIDE_FILES,
  syncFile,
  syncFolder,
} from './partial-file.ts'

/** Between the name of a store and the time when another one took its place. */
const KEPT_MARK = '.before-restore-'

export interface RestoredStore extends StoreCopy {
  /** Where the store is now that was there before. */
  keptAs: string | undefined
}

/**
 * Puts the store that was backed up to `file` at `path`, once it is examined. What was at `path` is kept beside it.
 * Throws a SetupError, and leaves everything as it is, when `file` is no sound store, when `path` is in use, or when
 * something is there and may not be replaced.
 */
export async function restoreStore(
  file: string,
  path: string,
  { signal, mayReplace, onProgress }: StoreWorkOptions,
): Promise<RestoredStore> {
  if (!isFile(file)) throw new SetupError(`There is no backup ${file}: name the file of one.`)
  const isThere = isFile(path)
  if (!isThere && existsSync(path)) throw new SetupError(`${path} is no file: name another place.`)
  let lock: DatabaseLock | undefined
  let partial: string | undefined
  try {
    const target = followLinks(path)
    checkIsApart(realpathSync(file), target)
    if (isThere) lock = lockDatabase(target)
    if (isThere && !mayReplace) {
      throw new SetupError(
        `There is a store at ${path}: name another place with --database, or replace it with --force (it is kept beside).`,
      )
    }
    makeFolder(dirname(target))
    const ours = basename(target)
    removeLeftovers(dirname(target), (name) => name === ours || name.startsWith(ours + KEPT_MARK))
    partial = createPartialFile(target)
    const job = { kind: 'copy', from: file, to: partial, isThrottled: false } as const
    const copy = await runMaintenance(job, { signal, onProgress })
    signal.throwIfAborted()
    giveToOwner(partial, isThere ? target : dirname(target))
    if (!isThere && existsSync(target)) {
      throw new SetupError(`There is a store at ${path} now, and was none before: stop the service first.`)
    }
    // Before: it can take long, and the old store has two names only for a moment.
    syncFile(partial)
    const keptAs = putAside(target, lock)
    // Windows replaces no file that is open.
    if (process.platform === 'win32') lock?.release()
    publishPartialFile(partial, target)
    return { ...copy, keptAs }
  } catch (error) {
    if (error instanceof SetupError || signal.aborted) throw error
    throw new SetupError(`The store cannot be restored to ${path}: ${fileReason(error)}.`, { cause: error })
  } finally {
    lock?.release()
    if (partial !== undefined) removePartialFile(partial)
  }
}

function checkIsApart(file: string, target: string): void {
  if (file === target) throw new SetupError(`${file} is the store itself: name a backup of it.`)
  if (SIDE_FILES.some((end) => file + end === target || target + end === file)) {
    throw new SetupError(`${target} cannot be made of ${file} beside it: name another place.`)
  }
}

/** Restored by root, a store is for the user whose service was, or will be, there. */
function giveToOwner(path: string, model: string): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(model)
  chownSync(path, uid, gid)
}

/**
 * Keeps what is at the path under another name as well, until it is replaced. Its log must not stay: SQLite would
 * take it for the log of the file that comes.
 */
function putAside(target: string, lock: DatabaseLock | undefined): string | undefined {
  const aside = `${target}${KEPT_MARK}${new Date().toISOString().replace(/[-:.]/g, '')}`
  const isWhole = lock?.settle() ?? false
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
  // No power cut may undo it alone: the log would be beside the file that comes.
  syncFolder(dirname(target))
  return isKept ? aside : undefined
}
