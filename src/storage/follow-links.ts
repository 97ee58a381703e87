import { lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { SetupError } from '../errors.ts'

const STICKY = 0o1000

/**
 * Where a file is, or would be created: symbolic links are followed, also one that leads to nothing. Throws the
 * failure of the system, or a SetupError for a link of another user in a shared folder.
 */
export function followLinks(path: string): string {
  // A circle of links fails here.
  const target = statSync(path, { throwIfNoEntry: false })
  const next = readLink(path)
  if (next !== undefined) return followLinks(next)
  if (target !== undefined) return realpathSync(path)
  const isFolderThere = statSync(dirname(path), { throwIfNoEntry: false }) !== undefined
  return isFolderThere ? join(realpathSync(dirname(path)), basename(path)) : resolve(path)
}

/** Throws a SetupError if the path, or a link that it leads to, is a link of another user in a shared folder. */
export function rejectForeignLinks(path: string): void {
  let next = readLink(path)
  // What leads in a circle fails when it is opened.
  for (let hops = 0; next !== undefined && hops < 40; hops++) next = readLink(next)
}

/** Where a link leads, one step; undefined where there is none. */
function readLink(path: string): string | undefined {
  const link = lstatSync(path, { throwIfNoEntry: false })
  if (!link?.isSymbolicLink()) return undefined
  const folder = realpathSync(dirname(path))
  // The rule of Linux (fs.protected_symlinks), which not every system has: a link in /tmp must not decide
  // where others write.
  const { mode, uid } = statSync(folder)
  const isShared = (mode & STICKY) !== 0
  if (isShared && link.uid !== process.geteuid?.() && link.uid !== uid) {
    throw new SetupError(`${path} is a link of another user in a shared folder: name another file.`)
  }
  return resolve(folder, readlinkSync(path))
}
