import { openSqliteStorage } from './sqlite/sqlite-storage.ts'
import type { Storage, StorageOptions } from './storage.ts'

/** Opens the storage that the setting `database` names: a file's path. Throws a SetupError when it cannot be used. */
export function openStorage(database: string, options: StorageOptions): Promise<Storage> {
  return openSqliteStorage(database, options)
}
