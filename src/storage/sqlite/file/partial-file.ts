import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { SetupError } from '../../../errors.ts'
import { fileReason } from '../connection/failure.ts'

/** What SQLite may put beside a file. */
export const SIDE_FILES = ['-wal', '-shm', '-journal'] as const

/** `<name>.<process id>.partial`, and what SQLite puts beside it. */
const PARTIAL_NAME = /^(.+)\.(\d+)\.partial(?:-wal|-shm|-journal)?$/s

/** A process that works on a file writes to it more often than that. */
const ABANDONED_AFTER_MS = 24 * 3_600_000

/** How file systems say that they have no hard links, or not as many. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']

/** How file systems say that folders cannot be synced there, as some of the network do: there is no more to be done. */
const NO_FOLDER_SYNC = ['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']

/** Whether there is a file, and not a folder or a device. Throws a SetupError where nobody can tell. */
export function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
  } catch (error) {
    throw new SetupError(`${path} cannot be used: ${fileReason(error)}.`, { cause: error })
  }
}

/** Where a file is, or would be made: links are followed, one that leads to nothing as well. */
export function followLinks(path: string): string {
  if (statSync(path, { throwIfNoEntry: false }) !== undefined) return realpathSync(path)
  const isFolderThere = statSync(dirname(path), { throwIfNoEntry: false }) !== undefined
  if (!isFolderThere) return resolve(path)
  const folder = realpathSync(dirname(path))
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
  return isLink ? followLinks(resolve(folder, readlinkSync(path))) : join(folder, basename(path))
}

/** Makes the empty file that is to become `target`, for its owner alone, and gives its path. */
export function createPartialFile(target: string): string {
  const path = `${target}.${process.pid}.partial`
  removePartialFile(path)
  closeSync(openSync(path, 'wx', 0o600))
  return path
}

/** Gives a whole file its name, for good: it is on disk under it, or the old one still is. */
export function publishPartialFile(path: string, target: string): void {
  syncFile(path)
  renameSync(path, target)
  syncFolder(dirname(target))
}

/**
 * Keeps a file under another name as well: there is one under the first at every moment. Where the file system
 * has no hard links, as those of memory cards, it is copied. `link` is that of node:fs.
 */
export function keepAlsoAs(path: string, name: string, link = linkSync): void {
  try {
    link(path, name)
  } catch (error) {
    if (!NO_LINKS.includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    copyAs(path, name)
  }
}

/** Copies a file. Half a copy never has the name. */
function copyAs(path: string, name: string): void {
  if (existsSync(name)) throw new SetupError(`${name} is there already.`)
  const partial = createPartialFile(name)
  try {
    copyFileSync(path, partial)
    publishPartialFile(partial, name)
  } finally {
    removePartialFile(partial)
  }
}

export function removePartialFile(path: string): void {
  for (const end of ['', ...SIDE_FILES]) rmSync(path + end, { force: true })
}

/** Removes what processes that were killed left behind of files whose names `isOurs`. */
export function removeLeftovers(folder: string, isOurs: (name: string) => boolean): void {
  for (const found of readdirSync(folder)) {
    const [, name = '', processId = ''] = PARTIAL_NAME.exec(found) ?? []
    if (name === '' || !isOurs(basename(name))) continue
    const path = join(folder, found)
    if (!isRunning(Number(processId)) || isAbandoned(path)) rmSync(path, { force: true })
  }
}

/** Brings a change of names in a folder to the disk; Windows does so by itself. `sync` is `syncFile`. */
export function syncFolder(folder: string, sync = syncFile): void {
  if (process.platform === 'win32') return
  try {
    sync(folder)
  } catch (error) {
    if (!NO_FOLDER_SYNC.includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}

/** Brings what is in a file to the disk. */
export function syncFile(path: string): void {
  const file = openSync(path, process.platform === 'win32' ? 'r+' : 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Whether another process has this id: in a container that is started again this one has the same as the last. */
function isRunning(processId: number): boolean {
  if (processId === process.pid) return false
  try {
    process.kill(processId, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function isAbandoned(path: string): boolean {
  const status = statSync(path, { throwIfNoEntry: false })
  return status !== undefined && Date.now() - status.mtimeMs > ABANDONED_AFTER_MS
}
