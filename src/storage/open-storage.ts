import { SetupError } from '../errors.ts'
import { describeTarget, isPostgresUrl, parsePostgresUrl } from './postgres/postgres-url.ts'
import { openSqliteStorage } from './sqlite/sqlite-storage.ts'
import type { Storage, StorageOptions } from './storage.ts'

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
  // SQLite would take these for something else than a path, each connection for another.
  if (/^:|^[a-z][a-z0-9+.-]+:/i.test(database)) {
    throw new SetupError(
      `The database must be the path of a file or a postgres:// URL, not ${JSON.stringify(database.replace(/:.*/s, ':…'))}.`,
    )
  }
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
  const { shardPostgres } = await import('./postgres/postgres-shard.ts')
  return shardPostgres(database, options)
}

/** The setting `database` as a log or a message may show it: without a password. */
export function describeDatabase(database: string): string {
  return isPostgresUrl(database) ? describeTarget(parsePostgresUrl(database)) : database
}
