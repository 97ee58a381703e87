import { closeSync, fsyncSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** What SQLite may put beside a file. */
export const SIDE_FILES = ['-wal', '-shm', '-journal'] as const

/** `<name>.<process id>.partial`, and what SQLite puts beside it. */
const PARTIAL_NAME = /^(.+)\.(\d+)\.partial(?:-wal|-shm|-journal)?$/s

/** A process that works on a file writes to it more often than that. */
const ABANDONED_AFTER_MS = 24 * 3_600_000

/** Whether there is a file, and not a folder or a device. */
export function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
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
  syncPath(path)
  renameSync(path, target)
  syncFolder(dirname(target))
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

/** Brings a change of names in a folder to the disk; Windows does so by itself. */
export function syncFolder(folder: string): void {
  if (process.platform !== 'win32') syncPath(folder)
}

function syncPath(path: string): void {
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
