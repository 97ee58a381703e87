import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { SetupError } from '../errors.ts'

export interface Migration {
  version: number
  name: string
  sql: string
}

/** What a database must offer to be migrated. */
export interface Ledger {
  /** The versions applied so far; empty for a new database. */
  appliedVersions(): number[]
  /** Runs the migration and notes it in the ledger, in one transaction. */
  apply(migration: Migration): void
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

/** Applies what is missing, in order. Throws a SetupError when the database is newer than this program. */
export function migrate(ledger: Ledger, migrations: readonly Migration[]): void {
  const applied = new Set(ledger.appliedVersions())
  const newest = Math.max(0, ...applied)
  const known = migrations.at(-1)?.version ?? 0
  if (newest > known) {
    throw new SetupError(
      `The database has schema version ${newest}, this program knows ${known}: use the newer program that wrote it.`,
    )
  }
  for (const migration of migrations) {
    if (!applied.has(migration.version)) ledger.apply(migration)
  }
}
