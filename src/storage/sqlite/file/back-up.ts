import { existsSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { SetupError } from '../../../errors.ts'
import { fileReason } from '../connection/failure.ts'
import type { CopyProgress, StoreCopy } from './copy.ts'
import { runMaintenance } from './maintenance.ts'
import {
  createPartialFile,
  followLinks,
  isFile,
  publishPartialFile,
  removeLeftovers,
  removePartialFile,
  SIDE_FILES,
} from './partial-file.ts'

export interface StoreWorkOptions {
  /** Ends the work; its reason is thrown. */
  signal: AbortSignal
  /** Whether a file that is there already may be replaced. */
  mayReplace: boolean
  onProgress(progress: CopyProgress): void
}

/**
 * Backs up the store at `path`, which may be in use, to `file`: everything that was acknowledged before the call is
 * in it. It gets its name when it is whole, examined and on disk. Throws a SetupError otherwise.
 */
export async function backUpStore(
  path: string,
  file: string,
  { signal, mayReplace, onProgress }: StoreWorkOptions,
): Promise<StoreCopy> {
  if (!isFile(path)) throw new SetupError(`There is no store at ${path}: name it with --database.`)
  if (/(?:^|\/)$/.test(file)) throw new SetupError(`"${file}" names no file: name one for the backup.`)
  let partial: string | undefined
  try {
    const target = followLinks(file)
    checkTarget(path, target, mayReplace)
    removeLeftovers(dirname(target), (name) => name === basename(target))
    partial = createPartialFile(target)
    const job = { kind: 'copy', from: path, to: partial, isThrottled: true } as const
    const copy = await runMaintenance(job, { signal, onProgress })
    signal.throwIfAborted()
    // Meanwhile somebody may have put something there.
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
  const store = realpathSync(path)
  if (target === store) throw new SetupError(`${target} is the store itself: name another file.`)
  if (SIDE_FILES.some((end) => target === store + end)) {
    throw new SetupError(`${target} belongs to the store itself: name another file.`)
  }
  // SQLite would take it for the log of the backup, and change the backup by it.
  const side = SIDE_FILES.map((end) => target + end).find((name) => existsSync(name))
  if (side !== undefined) {
    throw new SetupError(`${side} says that a store is or was at ${target}: name another file.`)
  }
  const found = statSync(target, { throwIfNoEntry: false })
  if (found === undefined) return
  if (!found.isFile())
    throw new SetupError(`${target} is no file: name one that the backup is to be written to.`)
  if (!mayReplace) {
    throw new SetupError(`${target} is there already: name another file, or replace it with --force.`)
  }
}

function writeFailure(file: string, error: unknown): SetupError {
  const folder = dirname(file)
  const reason = existsSync(folder) ? fileReason(error) : `there is no folder ${folder}, make it first`
  return new SetupError(`The backup cannot be written to ${file}: ${reason}.`, { cause: error })
}
