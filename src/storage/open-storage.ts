import { SettingError, SetupError } from '../errors.ts'
import { describeTarget, isPostgresUrl, parsePostgresUrl } from './postgres/connection/url.ts'
import { backUpStore, type StoreWorkOptions } from './sqlite/file/back-up.ts'
import type { CheckProgress } from './sqlite/file/check.ts'
import type { StoreCopy } from './sqlite/file/copy.ts'
import { runMaintenance } from './sqlite/file/maintenance.ts'
import { isFile, removeLeftovers } from './sqlite/file/partial-file.ts'
import { type RestoredStore, restoreStore } from './sqlite/file/restore.ts'
import { openSqliteStorage } from './sqlite/sqlite-storage.ts'
import type { Storage, StorageOptions } from './storage.ts'

export interface StoreCheckOptions {
  signal: AbortSignal
  onProgress(progress: CheckProgress): void
}

/**
 * Opens the storage that the setting `database` names: a file's path, or the URL of a PostgreSQL database.
 * Throws a SetupError when it cannot be used.
 */
export async function openStorage(database: string, options: StorageOptions): Promise<Storage> {
  if (isPostgresUrl(database)) {
    // Loaded where it is used: it takes a while, and not everybody has it.
    const { openPostgresStorage } = await import('./postgres/postgres-storage.ts')
    return openPostgresStorage(database, options)
  }
  checkIsPath(database)
  return openSqliteStorage(database, options)
}

/**
 * Distributes the tables of a store over the cluster that its database coordinates, after bringing the schema up
 * to date. Gives the tables that were not distributed before. Throws a SetupError where there is no such cluster.
 */
export async function shardStorage(database: string, options: StorageOptions): Promise<string[]> {
  if (!isPostgresUrl(database)) {
    throw new SetupError(
      'A store in a file has no cluster to be distributed over: give the postgres:// URL of one.',
    )
  }
  const { shardPostgres } = await import('./postgres/schema/shard-tables.ts')
  return shardPostgres(database, options)
}

/**
 * What is done with the file of a store as a whole, also beside a running service. Throws a SetupError where the
 * setting `database` names a PostgreSQL database, which has tools of its own for `doing` this.
 */
export function storeFile(database: string, doing: 'backing it up' | 'restoring it' | 'checking it') {
  if (isPostgresUrl(database)) {
    const tools = {
      'backing it up': 'pg_dump or pg_basebackup',
      'restoring it': 'pg_restore or psql',
      'checking it': 'pg_amcheck',
    }
    throw new SetupError(
      `${describeDatabase(database)} is a PostgreSQL database, which has tools of its own for ${doing}: ${tools[doing]}.`,
    )
  }
  checkIsPath(database)
  return {
    /** Backs the store up to a file. */
    backUp: (file: string, options: StoreWorkOptions): Promise<StoreCopy> =>
      backUpStore(database, file, options),
    /** Puts the store that was backed up to a file in its place. */
    restore: (file: string, options: StoreWorkOptions): Promise<RestoredStore> =>
      restoreStore(file, database, options),
    /** What is wrong with the store, a line each. */
    check: (options: StoreCheckOptions): Promise<string[]> => {
      if (!isFile(database))
        throw new SetupError(`There is no store at ${database}: name it with --database.`)
      return runMaintenance({ kind: 'check', path: database }, options)
    },
    removeLeftovers,
  }
}

/** Throws a SettingError where the setting `database` names no storage. What else is wrong its opening tells. */
export function checkDatabase(database: string): void {
  try {
    if (isPostgresUrl(database)) parsePostgresUrl(database)
    else checkIsPath(database)
  } catch (error) {
    if (error instanceof SettingError) throw error
  }
}

/** SQLite would take some names for something else than a path, each connection for another. */
function checkIsPath(database: string): void {
  if (/^:|^[a-z][a-z0-9+.-]+:/i.test(database)) {
    throw new SettingError(
      `The database must be the path of a file or a postgres:// URL, not ${JSON.stringify(database.replace(/:.*/s, ':…'))}.`,
    )
  }
}

/** The setting `database` as a log or a message may show it: without a password. */
export function describeDatabase(database: string): string {
  return isPostgresUrl(database) ? describeTarget(parsePostgresUrl(database)) : database
}
