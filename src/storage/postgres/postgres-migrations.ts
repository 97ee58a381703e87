import { SetupError } from '../../errors.ts'
import { missingMigrations, readMigrations } from '../migrate.ts'
import type { Sql, Transaction } from './postgres-client.ts'

const MIGRATIONS_FOLDER = new URL('./migrations/', import.meta.url)

/** The lock that one migrating process holds; a number that nobody else has a reason to take. */
const MIGRATION_LOCK = 7_152_668_311_001n

/**
 * Brings the schema up to date, once, however many replicas start together. Throws a SetupError when it is
 * newer than this program, or lacks something and `isAllowed` is false.
 */
export async function migratePostgres(sql: Sql, isAllowed: boolean): Promise<void> {
  const migrations = readMigrations(MIGRATIONS_FOLDER)
  // Looked at first without any change, which a role may have no right to.
  const missing = missingMigrations(await appliedVersions(sql), migrations)
  if (missing.length === 0) return
  if (!isAllowed) {
    throw new SetupError(
      `The database lacks ${missing.map(({ name }) => name).join(', ')}: run "plantstore migrate" first.`,
    )
  }
  await sql.begin(async (transaction) => {
    await transaction`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`
    await transaction.unsafe(
      'CREATE TABLE IF NOT EXISTS migrations (version integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())',
    )
    for (const { version, name, sql: text } of missingMigrations(
      await appliedVersions(transaction),
      migrations,
    )) {
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
