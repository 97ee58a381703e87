import { SettingError, SetupError } from '../errors.ts'
import { describeTarget, isPostgresUrl, parsePostgresUrl } from './postgres/connection/url.ts'
import { backUpDatabase, type MaintenanceOptions } from './sqlite/file/back-up.ts'
import type { CheckProgress } from './sqlite/file/check.ts'
import type { DatabaseCopy } from './sqlite/file/copy.ts'
import { runMaintenance } from './sqlite/file/maintenance.ts'
import { isFile, removeLeftovers } from './sqlite/file/partial-file.ts'
import { type RestoredDatabase, restoreDatabase } from './sqlite/file/restore.ts'
import { openSqliteStorage } from './sqlite/sqlite-storage.ts'
import type { Storage, StorageOptions } from './storage.ts'

export interface CheckOptions {
  signal: AbortSignal
  onProgress(progress: CheckProgress): void
}

/**
 * Opens the database in the setting `database`: the path of a file or the URL of a PostgreSQL database. Throws a
 * SetupError if it cannot be used.
 */
export async function openStorage(database: string, options: StorageOptions): Promise<Storage> {
  if (isPostgresUrl(database)) {
    // Loaded on demand: the import takes a while, and SQLite does not need it.
    const { openPostgresStorage } = await import('./postgres/postgres-storage.ts')
    return openPostgresStorage(database, options)
  }
  checkIsPath(database)
  return openSqliteStorage(database, options)
}

/**
 * Migrates the schema and distributes the tables over the cluster of the database. Returns the tables that were not
 * distributed before. Throws a SetupError if there is no cluster.
 */
export async function shardStorage(database: string, options: StorageOptions): Promise<string[]> {
  if (!isPostgresUrl(database)) {
    throw new SetupError(
      'A SQLite file cannot be distributed over a cluster: give the postgres:// URL of a Citus cluster.',
    )
  }
  const { shardPostgres } = await import('./postgres/schema/shard-tables.ts')
  return shardPostgres(database, options)
}

/** How to do the same on PostgreSQL. */
const POSTGRES_TOOLS = {
  backup: 'Back it up with pg_dump or pg_basebackup.',
  restore: 'Restore it with pg_restore or psql.',
  check: 'Check it with pg_amcheck.',
}

/**
 * Maintenance of a SQLite file, also while a service uses it. Throws a SetupError that names the tools for `task` if
 * the setting `database` names a PostgreSQL database.
 */
export function databaseFile(database: string, task: keyof typeof POSTGRES_TOOLS) {
  if (isPostgresUrl(database)) {
    throw new SetupError(`${describeDatabase(database)} is a PostgreSQL database. ${POSTGRES_TOOLS[task]}`)
  }
  checkIsPath(database)
  return {
    /** Backs the database up to a file. */
    backUp: (file: string, options: MaintenanceOptions): Promise<DatabaseCopy> =>
      backUpDatabase(database, file, options),
    /** Replaces the database by the backup in a file. */
    restore: (file: string, options: MaintenanceOptions): Promise<RestoredDatabase> =>
      restoreDatabase(file, database, options),
    /** Returns what is wrong with the database, a line each. */
    check: (options: CheckOptions): Promise<string[]> => {
      if (!isFile(database))
        throw new SetupError(`There is no database at ${database}: name it with --database.`)
      return runMaintenance({ kind: 'check', path: database }, options)
    },
    removeLeftovers,
  }
}

/** Throws a SettingError if the setting `database` is malformed. Every other problem appears when it is opened. */
export function checkDatabase(database: string): void {
  try {
    if (isPostgresUrl(database)) parsePostgresUrl(database)
    else checkIsPath(database)
  } catch (error) {
    if (error instanceof SettingError) throw error
  }
}

/** SQLite interprets some names not as paths: `:memory:` is a separate database for each connection. */
function checkIsPath(database: string): void {
  if (/^:|^[a-z][a-z0-9+.-]+:/i.test(database)) {
    throw new SettingError(
      `The database must be the path of a file or a postgres:// URL, not ${JSON.stringify(database.replace(/:.*/s, ':…'))}.`,
    )
  }
}

/** The setting `database` without password, for logs and messages. */
export function describeDatabase(database: string): string {
  return isPostgresUrl(database) ? describeTarget(parsePostgresUrl(database)) : database
}
