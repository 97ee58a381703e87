import { existsSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { SetupError } from '../../errors.ts'
import type { CopyProgress, StoreCopy } from './copy-store.ts'
import {
  createPartialFile,
  isFile,
  publishPartialFile,
  removeLeftovers,
  removePartialFile,
} from './partial-file.ts'
import { fileReason } from './sqlite-connection.ts'
import { runStoreJob } from './store-job.ts'

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
  const target = existsSync(file) ? realpathSync(file) : file
  checkTarget(path, target, mayReplace)
  let partial: string
  try {
    removeLeftovers(dirname(target), (name) => name === basename(target))
    partial = createPartialFile(target)
  } catch (error) {
    throw writeFailure(file, error)
  }
  try {
    const copy = await runStoreJob(
      { kind: 'copy', from: path, to: partial, isThrottled: true },
      {
        signal,
        onProgress,
      },
    )
    signal.throwIfAborted()
    try {
      publishPartialFile(partial, target)
    } catch (error) {
      throw writeFailure(file, error)
    }
    return copy
  } finally {
    removePartialFile(partial)
  }
}

function checkTarget(path: string, target: string, mayReplace: boolean): void {
  const found = statSync(target, { throwIfNoEntry: false })
  if (found === undefined) return
  if (!found.isFile())
    throw new SetupError(`${target} is no file: name one that the backup is to be written to.`)
  if (target === realpathSync(path)) throw new SetupError(`${target} is the store itself: name another file.`)
  if (!mayReplace) {
    throw new SetupError(`${target} is there already: name another file, or replace it with --force.`)
  }
}

function writeFailure(file: string, error: unknown): SetupError {
  return new SetupError(`The backup cannot be written to ${file}: ${fileReason(error)}.`, { cause: error })
}
