import { existsSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { SetupError } from '../../../errors.ts'
import { followLinks } from '../../follow-links.ts'
import { fileReason } from '../connection/failure.ts'
import { SIDE_FILES, sideFilesOf } from '../connection/side-files.ts'
import type { CopyProgress, DatabaseCopy } from './copy.ts'
import { runMaintenance } from './maintenance.ts'
import {
  createPartialFile,
  isFile,
  publishPartialFile,
  removeLeftovers,
  removePartialFile,
} from './partial-file.ts'

export interface MaintenanceOptions {
  /** Aborts the work, which then throws the reason of the signal. */
  signal: AbortSignal
  /** Whether an existing file may be replaced. */
  mayReplace: boolean
  onProgress(progress: CopyProgress): void
}

/**
 * Backs up the database at `path`, which may be in use, to `file`, with every write that was acknowledged before the
 * call. The file gets its name once it is complete, checked and on disk. Throws a SetupError otherwise.
 */
export async function backUpDatabase(
  path: string,
  file: string,
  { signal, mayReplace, onProgress }: MaintenanceOptions,
): Promise<DatabaseCopy> {
  if (!isFile(path)) throw new SetupError(`There is no database at ${path}: name it with --database.`)
  let partial: string | undefined
  try {
    const target = followLinks(file)
    checkTarget(path, target, mayReplace)
    removeLeftovers(dirname(target), (name) => name === basename(target))
    partial = createPartialFile(target)
    const job = { kind: 'copy', from: path, to: partial, isThrottled: true, isForeign: false } as const
    const copy = await runMaintenance(job, { signal, onProgress })
    signal.throwIfAborted()
    // Checked again, as the copy takes time.
    checkTarget(path, target, mayReplace)
    publishPartialFile(partial, target)
    return copy
  } catch (error) {
    if (error instanceof SetupError || signal.aborted) throw error
    throw writeFailure(file, error)
  } finally {
    if (partial !== undefined) removePartialFile(partial)
  }
}

function checkTarget(path: string, target: string, mayReplace: boolean): void {
  const database = realpathSync(path)
  if (target === database) throw new SetupError(`${target} is the database itself: name another file.`)
  if (SIDE_FILES.some((end) => target === database + end)) {
    throw new SetupError(`${target} belongs to the database: name another file.`)
  }
  // SQLite would apply it to the backup as its log.
  const [side] = sideFilesOf(target)
  if (side !== undefined) {
    throw new SetupError(`${side} belongs to a database that is or was at ${target}: name another file.`)
  }
  const found = statSync(target, { throwIfNoEntry: false })
  if (found === undefined) return
  if (!found.isFile()) throw new SetupError(`${target} is not a file: name a file for the backup.`)
  if (!mayReplace) {
    throw new SetupError(`${target} already exists: name another file, or replace it with --force.`)
  }
}

function writeFailure(file: string, error: unknown): SetupError {
  const folder = dirname(file)
  const reason = existsSync(folder) ? fileReason(error) : `there is no folder ${folder}, create it first`
  return new SetupError(`The backup cannot be written to ${file}: ${reason}.`, { cause: error })
}
