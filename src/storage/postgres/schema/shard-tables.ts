import { SetupError } from '../../../errors.ts'
import type { StorageOptions } from '../../storage.ts'
import type { Sql } from '../connection/client.ts'
import { migratePostgres } from './migrations.ts'
import { connectionOptions, withDatabase } from './prepare-database.ts'

/**
 * The placement of a table in a Citus cluster: rows are distributed by the hash of `column`, or copied to every node.
 * Every unique constraint of a table includes its column, and every write and locking read specifies it.
 */
interface Placement {
  table: string
  column: string | undefined
}

/** Copied tables first: Citus has more restrictions on them after distributed ones. */
const PLACEMENTS: readonly Placement[] = [
  { table: 'migrations', column: undefined },
  { table: 'tokens', column: undefined },
  { table: 'idempotency_keys', column: 'caller' },
  { table: 'plants', column: 'id' },
]

/**
 * Migrates the schema and distributes its tables over the cluster of the database (docs.citusdata.com: "Creating and
 * Modifying Distributed Tables"). Returns the tables that were not distributed before. Throws a SetupError, before any
 * change, if Citus is missing or its settings do not allow the statements of the storage.
 */
export async function shardPostgres(url: string, options: StorageOptions): Promise<string[]> {
  return withDatabase(connectionOptions(url, options), async (sql) => {
    await checkCitus(sql)
    await migratePostgres(sql, options)
    const distributed: string[] = []
    for (const placement of PLACEMENTS) {
      if (await isPlaced(sql, placement)) continue
      await place(sql, placement)
      distributed.push(placement.table)
    }
    return distributed
  })
}

/** Whether the plants are distributed over a Citus cluster. */
export async function arePlantsSharded(sql: Sql): Promise<boolean> {
  const [{ catalog } = { catalog: null }] = await sql<{ catalog: string | null }[]>`
    SELECT to_regclass('pg_dist_partition')::text AS catalog`
  if (catalog === null) return false
  const rows = await sql`
    SELECT FROM pg_dist_partition WHERE logicalrelid = 'plants'::regclass AND partmethod = 'h'`
  return rows.length > 0
}

async function checkCitus(sql: Sql): Promise<void> {
  const [{ version, replicas } = { version: null, replicas: null }] = await sql<
    { version: string | null; replicas: string | null }[]
  >`
    SELECT (SELECT extversion FROM pg_extension WHERE extname = 'citus') AS version,
      current_setting('citus.shard_replication_factor', true) AS replicas`
  if (version === null) {
    throw new SetupError(
      'The database lacks the extension citus, which distributes its tables. Install Citus and run "CREATE EXTENSION citus". Nothing was changed.',
    )
  }
  // With more than one, Citus does not support SELECT … FOR UPDATE, even of one plant.
  if (replicas !== null && replicas !== '' && replicas !== '1') {
    throw new SetupError(
      `citus.shard_replication_factor is ${replicas}, but must be 1. Use standbys instead. Nothing was changed.`,
    )
  }
}

/**
 * Whether the table is placed; false if it is only on the coordinator. Throws a SetupError if it is placed elsewhere.
 */
async function isPlaced(sql: Sql, { table, column }: Placement): Promise<boolean> {
  const [found] = await sql<{ kind: 'distributed' | 'copied' | null; column: string | null }[]>`
    SELECT column_to_column_name(logicalrelid, partkey) AS column,
      CASE WHEN partmethod = 'h' THEN 'distributed' WHEN repmodel = 't' THEN 'copied' END AS kind
    FROM pg_dist_partition WHERE logicalrelid = ${table}::text::regclass`
  if (found === undefined || found.kind === null) return false
  if ((found.column ?? undefined) === column) return true
  throw new SetupError(
    `The table ${table} is ${found.column === null ? 'copied to every node' : `distributed by ${found.column}`}, not ${column === undefined ? 'copied to every node' : `distributed by ${column}`}. Undo it with "SELECT undistribute_table('${table}')".`,
  )
}

async function place(sql: Sql, { table, column }: Placement): Promise<void> {
  try {
    await (column === undefined
      ? sql`SELECT create_reference_table(${table}::text::regclass)`
      : sql`SELECT create_distributed_table(${table}::text::regclass, ${column}::text, colocate_with => 'none')`)
  } catch (error) {
    throw new SetupError(`Citus failed to distribute the table ${table}: ${(error as Error).message}.`)
  }
}
