import { SetupError } from '../errors.ts'
import { openSqliteStorage } from './sqlite/sqlite-storage.ts'
import type { Storage, StorageOptions } from './storage.ts'

/**
 * Opens the storage that the setting `database` names: a file's path. Throws a SetupError when it cannot be
 * used.
 */
export async function openStorage(database: string, options: StorageOptions): Promise<Storage> {
  // SQLite would take these for something else than a path, each connection for another.
  if (/^:|^[a-z][a-z0-9+.-]+:/i.test(database)) {
    throw new SetupError(`The database must be the path of a file, not ${JSON.stringify(database)}.`)
  }
  return openSqliteStorage(database, options)
}
