import { SetupError } from '../../errors.ts'
import { missingMigrations, readMigrations } from '../migrate.ts'
import type { Sql, Transaction } from './postgres-client.ts'

const MIGRATIONS_FOLDER = new URL('./migrations/', import.meta.url)

/** The lock that one migrating process holds; a number that nobody else has a reason to take. */
const MIGRATION_LOCK = 7_152_668_311_001n

/**
 * Whether the schema is that of this program. Looks without any change, which a role may have no right to.
 * Throws a SetupError when it is newer, or when it lacks something and `mayMigrate` is false.
 */
export async function isUpToDate(sql: Sql, mayMigrate: boolean): Promise<boolean> {
  const missing = missingMigrations(await appliedVersions(sql), readMigrations(MIGRATIONS_FOLDER))
  if (missing.length > 0 && !mayMigrate) {
    throw new SetupError(
      `The database lacks ${missing.map(({ name }) => name).join(', ')}: run "plantstore migrate" first.`,
    )
  }
  return missing.length === 0
}

/** Brings the schema up to date, once, however many replicas start together. */
export async function migratePostgres(sql: Sql): Promise<void> {
  await sql.begin(async (transaction) => {
    await transaction`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`
    await transaction.unsafe(
      'CREATE TABLE IF NOT EXISTS migrations (version integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())',
    )
    const missing = missingMigrations(await appliedVersions(transaction), readMigrations(MIGRATIONS_FOLDER))
    for (const { version, name, sql: text } of missing) {
      await transaction.unsafe(text)
      await transaction`INSERT INTO migrations (version, name) VALUES (${version}, ${name})`
    }
  })
}

async function appliedVersions(sql: Sql | Transaction): Promise<number[]> {
  const [{ ledger } = { ledger: null }] = await sql<{ ledger: string | null }[]>`
    SELECT to_regclass('migrations')::text AS ledger`
  if (ledger === null) return []
  const rows = await sql<{ version: number }[]>`SELECT version FROM migrations`
  return rows.map(({ version }) => version)
}
