import { DatabaseSync } from 'node:sqlite'
import { SetupError } from '../../../errors.ts'
import { missingMigrations, readMigrations } from '../../migrate.ts'

export const MIGRATIONS_FOLDER = new URL('../migrations/', import.meta.url)

/** Creates the table of applied migrations. */
export const CREATE_MIGRATIONS =
  'CREATE TABLE IF NOT EXISTS migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL) STRICT'

/**
 * Checks that an open file is a Plant Store with the schema of this program or an older one. Throws a SetupError that
 * names the file and what it is instead.
 */
export function checkIsPlantStore(database: DatabaseSync, path: string): void {
  const known = new Map(readMigrations(MIGRATIONS_FOLDER).map(({ version, name }) => [version, name]))
  const applied = appliedMigrations(database)
  const first = applied[0]
  if (first === undefined || known.get(first.version) !== first.name) {
    const { page_count: pages } = database.prepare('PRAGMA page_count').get() ?? {}
    const what = pages === 0 ? 'it is empty' : 'it is the database of another program'
    throw new SetupError(`${path} is not a Plant Store: ${what}.`)
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
  // Another program may have a table or a view of this name. A view could run for ever.
  const found = readSchema(database).get('table migrations')
  if (found !== expectedSchema([]).get('table migrations')) return []
  return database
    .prepare('SELECT version, name FROM migrations ORDER BY version')
    .all()
    .map(({ version, name }) => ({ version: Number(version), name: String(name) }))
}

/**
 * Compares the schema of a Plant Store with what its migrations create, and returns the differences, a line each: a
 * trigger or a view of another program, for example. Runs nothing of that schema.
 */
export function findSchemaDifferences(database: DatabaseSync): string[] {
  const found = readSchema(database)
  const expected = expectedSchema(appliedMigrations(database).map(({ version }) => version))
  const missing = [...expected.keys()].filter((object) => !found.has(object))
  const foreign = [...found.keys()].filter((object) => !expected.has(object) && !STATISTICS.test(object))
  const changed = [...expected.keys()].filter(
    (object) => found.has(object) && found.get(object) !== expected.get(object) && !SHADOW_TABLE.test(object),
  )
  return [
    ...missing.map((object) => `the ${object} is missing`),
    ...foreign.map((object) => `the ${object} does not belong to a Plant Store`),
    ...changed.map((object) => `the ${object} is defined differently in a Plant Store`),
  ]
}

/** ANALYZE creates these tables. They hold no code. */
const STATISTICS = /^table sqlite_stat\d$/

/** FTS5 defines these tables, and another version of it may define them differently. */
const SHADOW_TABLE = /^table plant_words_/

/** The definitions of a schema by `<type> <name>`. */
function readSchema(database: DatabaseSync): Map<string, unknown> {
  const objects = database.prepare('SELECT type, name, sql FROM sqlite_schema').all()
  return new Map(objects.map(({ type, name, sql }) => [`${type} ${name}`, sql]))
}

/** The schema after these migrations. */
function expectedSchema(versions: readonly number[]): Map<string, unknown> {
  using database = new DatabaseSync(':memory:')
  database.exec(CREATE_MIGRATIONS)
  for (const { version, sql } of readMigrations(MIGRATIONS_FOLDER)) {
    if (versions.includes(version)) database.exec(sql)
  }
  return readSchema(database)
}
