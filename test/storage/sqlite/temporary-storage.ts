import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteStorage } from '../../../src/storage/sqlite/sqlite-storage.ts'
import type { Storage, StorageOptions } from '../../../src/storage/storage.ts'
import { closedInTheEnd, STORAGE_OPTIONS } from '../opened-storage.ts'

/** A test or a suite: it has a hook for its end. */
interface Owner {
  after(end: () => Promise<void> | void): void
}

/** A folder of the owner's own, removed at its end. */
export function temporaryFolder(owner: Owner): string {
  const folder = mkdtempSync(join(tmpdir(), 'plantstore-storage-'))
  owner.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Opens a file, new or not, until it is closed or its owner has ended. */
export async function openFile(
  owner: Owner,
  path: string,
  options: Partial<StorageOptions> = {},
): Promise<Storage> {
  return closedInTheEnd(owner, await openSqliteStorage(path, { ...STORAGE_OPTIONS, ...options }))
}

/** Opens an empty store in a folder of its own. */
export function openTemporary(owner: Owner, options: Partial<StorageOptions> = {}): Promise<Storage> {
  return openFile(owner, join(temporaryFolder(owner), 'plants.db'), options)
}
