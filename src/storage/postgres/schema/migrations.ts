import { SetupError } from '../../../errors.ts'
import { type Migration, missingMigrations, readMigrations, reportMigrations } from '../../migrate.ts'
import type { StorageOptions } from '../../storage.ts'
import type { Sql, Transaction } from '../connection/client.ts'
import { codeOf } from '../connection/failure.ts'
import { inTransaction } from '../connection/in-transaction.ts'

const MIGRATIONS_FOLDER = new URL('../migrations/', import.meta.url)

/** The advisory lock of the migrating process; an arbitrary number. */
const MIGRATION_LOCK = 7_152_668_311_001n

/** Lock timeouts to wait for another migration: 5 minutes by default, enough for an index over many plants. */
const OTHERS_MIGRATION_TIMEOUTS = 30

/** SQLSTATE of a lock_timeout. */
const LOCK_NOT_AVAILABLE = '55P03'

/**
 * Whether the schema is that of this program. Changes nothing, as the role may lack the right. Throws a SetupError if
 * the schema is newer, or if it is older and `mayMigrate` is false.
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
 * Migrates the schema, once, however many replicas start together. The migration itself has no time limit. It waits for
 * a lock of another session only as long as for a statement, as it would block all later statements meanwhile. For the
 * migration of another process it waits longer. Throws a SetupError that names what it waited for.
 */
export async function migratePostgres(
  sql: Sql,
  { postgresStatementTimeoutMs: lockTimeoutMs, onMigrated }: StorageOptions,
): Promise<void> {
  const startMs = performance.now()
  let migrations: Awaited<ReturnType<typeof applyMissing>> | undefined
  await inTransaction(sql, async (transaction) => {
    await withLockTimeout(transaction, {
      timeoutMs: lockTimeoutMs * OTHERS_MIGRATION_TIMEOUTS,
      waitedFor: 'another process that migrates it',
      work: () => transaction`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`,
    })
    await withLockTimeout(transaction, {
      timeoutMs: lockTimeoutMs,
      waitedFor: 'a lock that another session holds (see pg_stat_activity)',
      work: async () => {
        migrations = await applyMissing(transaction)
      },
    })
  })
  if (migrations !== undefined) reportMigrations({ ...migrations, startMs }, onMigrated)
}

/** Applies the missing migrations, and returns them with the versions that were there before. */
async function applyMissing(transaction: Transaction): Promise<{ versions: number[]; done: Migration[] }> {
  await transaction.unsafe(
    'CREATE TABLE IF NOT EXISTS migrations (version integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())',
  )
  const versions = await appliedVersions(transaction)
  const missing = missingMigrations(versions, readMigrations(MIGRATIONS_FOLDER))
  for (const { version, name, sql: text } of missing) {
    // One at a time: Citus takes no index beside another statement.
    for (const statement of statementsIn(text)) await transaction.unsafe(statement)
    await transaction`INSERT INTO migrations (version, name) VALUES (${version}, ${name})`
  }
  return { versions, done: missing }
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
      `The migration waited ${timeoutMs} ms for ${waitedFor}. Nothing was changed. Try again.`,
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
