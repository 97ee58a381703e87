import { randomBytes } from 'node:crypto'
import { access, constants, type FileHandle, open, realpath, rename, rm, stat } from 'node:fs/promises'
import { rejectForeignLinks } from '../../storage/follow-links.ts'
import { fileFailure } from '../output/file-failure.ts'

/** A file that is written beside the one it replaces, and takes its place once it is complete. */
export interface ReplacementFile {
  /** False for a device or named pipe: it is written directly, and nothing can be undone. */
  readonly isAtomic: boolean
  write(chunk: Uint8Array): Promise<void>
  /** Syncs the file to disk and gives it its name. */
  commit(): Promise<void>
  /** Leaves an existing file unchanged. Does nothing after `commit`. */
  discard(): Promise<void>
}

/**
 * Opens the replacement of the file at `path`. A device or named pipe is written directly. Throws a CommandFailure if
 * that is not possible.
 */
export async function openReplacement(path: string): Promise<ReplacementFile> {
  try {
    const { target, isOther } = await resolveTarget(path)
    if (isOther) return writeThrough(await open(target, 'w'), path)
    const partial = `${target}.${randomBytes(4).toString('hex')}.partial`
    return replaceWhenComplete(await open(partial, 'wx'), { partial, target, path })
  } catch (error) {
    throw fileFailure('write', path, error)
  }
}

/** Throws the CommandFailure that `openReplacement` would throw. Changes nothing. */
export async function checkReplaceable(path: string): Promise<void> {
  if (!(await isDevice(path))) return (await openReplacement(path)).discard()
  try {
    await access(path, constants.W_OK)
  } catch (error) {
    throw fileFailure('write', path, error)
  }
}

/** Whether there is a file to replace. */
export async function fileExists(path: string): Promise<boolean> {
  return stat(path).then(
    (status) => status.isFile(),
    () => false,
  )
}

/** Whether it is a device or named pipe. Opening a pipe would wait for its reader. */
async function isDevice(path: string): Promise<boolean> {
  return stat(path).then(
    (status) => !status.isFile() && !status.isDirectory(),
    () => false,
  )
}

async function resolveTarget(path: string): Promise<{ target: string; isOther: boolean }> {
  rejectForeignLinks(path)
  // A symbolic link stays: its target is replaced.
  const target = await realpath(path).catch(() => path)
  const isOther = await stat(target).then(
    (status) => !status.isFile(),
    () => false,
  )
  return { target, isOther }
}

function writeThrough(file: FileHandle, path: string): ReplacementFile {
  let isClosed = false
  const close = async () => {
    if (!isClosed) await file.close()
    isClosed = true
  }
  return {
    isAtomic: false,
    write: (chunk) => writeAll(file, chunk, path),
    commit: close,
    discard: close,
  }
}

function replaceWhenComplete(
  file: FileHandle,
  { partial, target, path }: { partial: string; target: string; path: string },
): ReplacementFile {
  let isEnded = false
  return {
    isAtomic: true,
    write: (chunk) => writeAll(file, chunk, path),
    async commit() {
      try {
        await file.sync()
        await file.close()
        await rename(partial, target)
        isEnded = true
      } catch (error) {
        throw fileFailure('write', path, error)
      }
    },
    async discard() {
      if (isEnded) return
      isEnded = true
      await file.close().catch(() => undefined)
      await rm(partial, { force: true })
    },
  }
}

async function writeAll(file: FileHandle, chunk: Uint8Array, path: string): Promise<void> {
  try {
    await file.writeFile(chunk)
  } catch (error) {
    throw fileFailure('write', path, error)
  }
}
