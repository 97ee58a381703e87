import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { SetupError } from '../errors.ts'
import type { StorageOptions } from './storage.ts'

export interface Migration {
  version: number
  name: string
  sql: string
}

/** The migrations in a folder of files named `0001-what-it-does.sql`, in order. */
export function readMigrations(folder: URL): Migration[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => ({
      version: Number.parseInt(file, 10),
      name: file.slice(0, -'.sql'.length),
      sql: readFileSync(fileURLToPath(new URL(file, folder)), 'utf8'),
    }))
}

/**
 * The migrations that a database with these versions lacks, in order. Throws a SetupError if the database is newer than
 * this program.
 */
export function missingMigrations(
  appliedVersions: readonly number[],
  migrations: readonly Migration[],
): Migration[] {
  const applied = new Set(appliedVersions)
  const newest = Math.max(0, ...applied)
  const known = migrations.at(-1)?.version ?? 0
  if (newest > known) {
    throw new SetupError(
      `The database has schema version ${newest}, this program supports ${known}: use the newer program that wrote it.`,
    )
  }
  return migrations.filter(({ version }) => !applied.has(version))
}

/** Calls `onMigrated` if migrations were applied to a database that had `versions` before; none is a new database. */
export function reportMigrations(
  { versions, done, startMs }: { versions: readonly number[]; done: readonly Migration[]; startMs: number },
  onMigrated: StorageOptions['onMigrated'],
): void {
  const last = done.at(-1)
  if (last === undefined || versions.length === 0) return
  const durationMs = Math.round(performance.now() - startMs)
  onMigrated?.({ from: Math.max(...versions), to: last.version, durationMs })
}
