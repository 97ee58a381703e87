import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { SetupError } from '../../../errors.ts'
import { fileReason } from '../connection/failure.ts'
import { SIDE_FILES } from '../connection/side-files.ts'

/** `<name>.<process id>.partial`, and the files that SQLite creates beside it. */
const PARTIAL_NAME = /^(.+)\.(\d+)\.partial(?:-wal|-shm|-journal)?$/s

/** Age of a partial file that no running process can be writing. */
const ABANDONED_AFTER_MS = 24 * 3_600_000

/** Error codes of file systems without hard links, or with too few. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']

/** Error codes of file systems that cannot sync folders, such as some network file systems. Ignored. */
const NO_FOLDER_SYNC = ['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']

/** Whether the path is a file, not a folder or device. Throws a SetupError if that cannot be determined. */
export function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
  } catch (error) {
    throw new SetupError(`${path} cannot be used: ${fileReason(error)}.`, { cause: error })
  }
}

/** Creates an empty file that will become `target`, readable by its owner only, and returns its path. */
export function createPartialFile(target: string): string {
  const path = `${target}.${process.pid}.partial`
  removePartialFile(path)
  closeSync(openSync(path, 'wx', 0o600))
  return path
}

/** Renames a complete file durably: after a crash, `target` is either the new file or the old one. */
export function publishPartialFile(path: string, target: string): void {
  syncFile(path)
  renameSync(path, target)
  syncFolder(dirname(target))
}

/**
 * Links a file to a second name, so that the first one always exists. Copies it on file systems without hard links,
 * such as those of memory cards. `link` is that of node:fs.
 */
export function keepAlsoAs(path: string, name: string, link = linkSync): void {
  try {
    link(path, name)
  } catch (error) {
    if (!NO_LINKS.includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    copyAs(path, name)
  }
}

/** Copies a file. An incomplete copy never has the name. */
function copyAs(path: string, name: string): void {
  if (existsSync(name)) throw new SetupError(`${name} already exists.`)
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

/** Removes the partial files of killed processes for which `isOurs` returns true. */
export function removeLeftovers(folder: string, isOurs: (name: string) => boolean): void {
  for (const found of readdirSync(folder)) {
    const [, name = '', processId = ''] = PARTIAL_NAME.exec(found) ?? []
    if (name === '' || !isOurs(basename(name))) continue
    const path = join(folder, found)
    if (!isRunning(Number(processId)) || isAbandoned(path)) rmSync(path, { force: true })
  }
}

/** Syncs a folder, which makes renames durable; Windows does so by itself. `sync` is `syncFile`. */
export function syncFolder(folder: string, sync = syncFile): void {
  if (process.platform === 'win32') return
  try {
    sync(folder)
  } catch (error) {
    if (!NO_FOLDER_SYNC.includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}

/** Writes the content of a file to disk. */
export function syncFile(path: string): void {
  const file = openSync(path, process.platform === 'win32' ? 'r+' : 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Whether another process has this id. In a restarted container this process has the id of the previous one. */
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
