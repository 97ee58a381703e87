import { existsSync, mkdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

const OWNER_ONLY = 0o700

/**
 * Creates a folder and its missing parents, accessible to their owner only. Throws the error of the operating system.
 */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: OWNER_ONLY })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    // Node reports ENOENT on a read-only file system, too. Creating the first missing folder fails with the reason.
    mkdirSync(firstMissing(resolve(path)), { mode: OWNER_ONLY })
    mkdirSync(path, { recursive: true, mode: OWNER_ONLY })
  }
}

function firstMissing(path: string): string {
  const above = dirname(path)
  return existsSync(above) ? path : firstMissing(above)
}
