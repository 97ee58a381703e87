import type { DatabaseSync } from 'node:sqlite'
import { SetupError } from '../../../errors.ts'
import { missingMigrations, readMigrations } from '../../migrate.ts'

export const MIGRATIONS_FOLDER = new URL('../migrations/', import.meta.url)

/**
 * Checks that an open file is a Plant Store with the schema of this program or an older one. Throws a SetupError that
 * names the file and what it is instead.
 */
export function checkIsPlantStore(database: DatabaseSync, path: string): void {
  const known = new Map(readMigrations(MIGRATIONS_FOLDER).map(({ version, name }) => [version, name]))
  const applied = appliedMigrations(database)
  const first = applied[0]
  if (first === undefined || known.get(first.version) !== first.name) {
    throw new SetupError(`${path} is not a Plant Store: it is the database of another program.`)
  }
  try {
    missingMigrations(
      applied.map(({ version }) => version),
      readMigrations(MIGRATIONS_FOLDER),
    )
  } catch (error) {
    if (error instanceof SetupError) throw new SetupError(`${path}: ${error.message}`)
    throw error
  }
}

function appliedMigrations(database: DatabaseSync): { version: number; name: string }[] {
  // Another program may have tables of these names with other columns.
  const columns = database.prepare("SELECT name FROM pragma_table_info('migrations')").all()
  if (!['version', 'name'].every((name) => columns.some((column) => column.name === name))) return []
  return database
    .prepare('SELECT version, name FROM migrations ORDER BY version')
    .all()
    .map(({ version, name }) => ({ version: Number(version), name: String(name) }))
}
