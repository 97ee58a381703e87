import { randomBytes } from 'node:crypto'
import { access, constants, type FileHandle, open, realpath, rename, rm, stat } from 'node:fs/promises'
import { fileFailure } from '../output/file-failure.ts'

/** A file that is written beside the one it is to replace, and takes its place when it is whole. */
export interface ReplacementFile {
  /** False for what is written as it stands: nothing can be taken back there. */
  readonly isWhole: boolean
  write(piece: Uint8Array): Promise<void>
  /** Puts it in its place: on disk, whole, under its name. */
  commit(): Promise<void>
  /** Leaves what was there as it was. Does nothing after `commit`. */
  discard(): Promise<void>
}

/**
 * Begins the file that is to be at `path`. What is no file (a device, a named pipe) is written as it stands.
 * Throws a CommandFailure when it cannot be.
 */
export async function openReplacement(path: string): Promise<ReplacementFile> {
  try {
    const { target, isOther } = await look(path)
    if (isOther) return writeThrough(await open(target, 'w'), path)
    const partial = `${target}.${randomBytes(4).toString('hex')}.partial`
    return replaceWhenWhole(await open(partial, 'wx'), { partial, target, path })
  } catch (error) {
    throw fileFailure('write', path, error)
  }
}

/** Throws the CommandFailure of `openReplacement` while there is still time; leaves everything as it is. */
export async function checkReplaceable(path: string): Promise<void> {
  const { target, isOther } = await look(path)
  const isFolder = isOther && (await stat(target)).isDirectory()
  // Opened, a named pipe would wait for its reader.
  if (!isOther || isFolder) return (await openReplacement(path)).discard()
  try {
    await access(target, constants.W_OK)
  } catch (error) {
    throw fileFailure('write', path, error)
  }
}

/** Whether a file is there that a replacement would take the place of. */
export async function isFileThere(path: string): Promise<boolean> {
  return stat(path).then(
    (status) => status.isFile(),
    () => false,
  )
}

async function look(path: string): Promise<{ target: string; isOther: boolean }> {
  // A link stays one: what it points to is replaced.
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
    isWhole: false,
    write: (piece) => writeAll(file, piece, path),
    commit: close,
    discard: close,
  }
}

function replaceWhenWhole(
  file: FileHandle,
  { partial, target, path }: { partial: string; target: string; path: string },
): ReplacementFile {
  let isOver = false
  return {
    isWhole: true,
    write: (piece) => writeAll(file, piece, path),
    async commit() {
      try {
        await file.sync()
        await file.close()
        await rename(partial, target)
        isOver = true
      } catch (error) {
        throw fileFailure('write', path, error)
      }
    },
    async discard() {
      if (isOver) return
      isOver = true
      await file.close().catch(() => undefined)
      await rm(partial, { force: true })
    },
  }
}

async function writeAll(file: FileHandle, piece: Uint8Array, path: string): Promise<void> {
  try {
    await file.writeFile(piece)
  } catch (error) {
    throw fileFailure('write', path, error)
  }
}
