import { existsSync, mkdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

const OWNER_ONLY = 0o700

/**
 * Makes a folder and those above it that are missing, for their owner alone. Throws the failure of the system that
 * stands in the way.
 */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: OWNER_ONLY })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    // Node says so of a file system that is read-only, too. The first folder alone is refused with the reason.
    mkdirSync(firstMissing(resolve(path)), { mode: OWNER_ONLY })
    mkdirSync(path, { recursive: true, mode: OWNER_ONLY })
  }
}

function firstMissing(path: string): string {
  const above = dirname(path)
  return existsSync(above) ? path : firstMissing(above)
}
