import { SetupError } from '../../../errors.ts'
import { missingMigrations, readMigrations } from '../../migrate.ts'
import type { Sql, Transaction } from '../connection/client.ts'
import { codeOf } from '../connection/failure.ts'
import { inTransaction } from '../connection/in-transaction.ts'

const MIGRATIONS_FOLDER = new URL('../migrations/', import.meta.url)

/** The lock that one migrating process holds; a number that nobody else has a reason to take. */
const MIGRATION_LOCK = 7_152_668_311_001n

/** An index over very many plants takes minutes: 5 of them with the default time-out. */
const OTHERS_MIGRATION_TIMEOUTS = 30

/** SQLSTATE of a lock_timeout. */
const LOCK_NOT_AVAILABLE = '55P03'

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

/**
 * Brings the schema up to date, once, however many replicas start together. It takes as long as it takes, but
 * waits for no lock of somebody else's longer than `lockTimeoutMs`, as all who come after it would wait, too, and
 * for another process that migrates so many times longer. Throws a SetupError that says what it waited for.
 */
export async function migratePostgres(sql: Sql, lockTimeoutMs: number): Promise<void> {
  await inTransaction(sql, async (transaction) => {
    await withLockTimeout(transaction, {
      timeoutMs: lockTimeoutMs * OTHERS_MIGRATION_TIMEOUTS,
      waitedFor: 'another process that migrates it',
      work: () => transaction`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`,
    })
    await withLockTimeout(transaction, {
      timeoutMs: lockTimeoutMs,
      waitedFor: 'a lock that another session holds (see pg_stat_activity)',
      work: () => applyMissing(transaction),
    })
  })
}

async function applyMissing(transaction: Transaction): Promise<void> {
  await transaction.unsafe(
    'CREATE TABLE IF NOT EXISTS migrations (version integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())',
  )
  const missing = missingMigrations(await appliedVersions(transaction), readMigrations(MIGRATIONS_FOLDER))
  for (const { version, name, sql: text } of missing) {
    // One at a time: Citus takes no index beside another statement.
    for (const statement of statementsIn(text)) await transaction.unsafe(statement)
    await transaction`INSERT INTO migrations (version, name) VALUES (${version}, ${name})`
  }
}

/** The statements of a migration. Each ends its line, and no text in one has a semicolon there. */
function statementsIn(text: string): string[] {
  return text.split(/;[ ]*$/m).filter((statement) => statement.replace(/^--.*$/gm, '').trim() !== '')
}

async function withLockTimeout(
  transaction: Transaction,
  { timeoutMs, waitedFor, work }: { timeoutMs: number; waitedFor: string; work: () => Promise<unknown> },
): Promise<void> {
  await transaction`SELECT set_config('lock_timeout', ${`${timeoutMs}ms`}, true)`
  try {
    await work()
  } catch (error) {
    if (codeOf(error) !== LOCK_NOT_AVAILABLE) throw error
    throw new SetupError(
      `The schema is not up to date, as the migration waited ${timeoutMs} ms for ${waitedFor}. Nothing was changed; try again.`,
    )
  }
}

async function appliedVersions(sql: Sql | Transaction): Promise<number[]> {
  const [{ ledger } = { ledger: null }] = await sql<{ ledger: string | null }[]>`
    SELECT to_regclass('migrations')::text AS ledger`
  if (ledger === null) return []
  const rows = await sql<{ version: number }[]>`SELECT version FROM migrations`
  return rows.map(({ version }) => version)
}
