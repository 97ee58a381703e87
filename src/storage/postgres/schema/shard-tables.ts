import { SetupError } from '../../../errors.ts'
import type { StorageOptions } from '../../storage.ts'
import type { Sql } from '../connection/client.ts'
import { migratePostgres } from './migrations.ts'
import { connectionOptions, withDatabase } from './prepare-database.ts'

/**
 * Where the rows of a table live in a Citus cluster: by the hash of a column, or all of them on every node.
 * Every unique constraint of a table has its column in it, and every write and locking read names it.
 */
interface Placement {
  table: string
  column: string | undefined
}

/** In this order, as Citus takes a copied table after a distributed one in fewer cases than before it. */
const PLACEMENTS: readonly Placement[] = [
  { table: 'migrations', column: undefined },
  { table: 'tokens', column: undefined },
  { table: 'idempotency_keys', column: 'caller' },
  { table: 'plants', column: 'id' },
]

/**
 * Brings the schema up to date and distributes its tables over the cluster that the database coordinates
 * (docs.citusdata.com: "Creating and Modifying Distributed Tables"). Gives the tables that it distributed: those
 * that were so already are left as they are. Throws a SetupError, before it changes anything, where Citus is
 * missing or would refuse what the store does.
 */
export async function shardPostgres(url: string, options: StorageOptions): Promise<string[]> {
  return withDatabase(connectionOptions(url, options), async (sql) => {
    await checkCitus(sql)
    await migratePostgres(sql, options.postgresStatementTimeoutMs)
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
      'The database has no extension citus, which would distribute its tables: "CREATE EXTENSION citus" makes one where Citus is installed. Nothing was changed.',
    )
  }
  // With more than one, Citus refuses SELECT … FOR UPDATE, even of one plant.
  if (replicas !== null && replicas !== '' && replicas !== '1') {
    throw new SetupError(
      `citus.shard_replication_factor is ${replicas}, and must be 1: make nodes safe with standbys instead. Nothing was changed.`,
    )
  }
}

/** Whether the table is where it belongs; false where it is on the coordinator alone. */
async function isPlaced(sql: Sql, { table, column }: Placement): Promise<boolean> {
  const [found] = await sql<{ kind: 'distributed' | 'copied' | null; column: string | null }[]>`
    SELECT column_to_column_name(logicalrelid, partkey) AS column,
      CASE WHEN partmethod = 'h' THEN 'distributed' WHEN repmodel = 't' THEN 'copied' END AS kind
    FROM pg_dist_partition WHERE logicalrelid = ${table}::text::regclass`
  if (found === undefined || found.kind === null) return false
  if ((found.column ?? undefined) === column) return true
  throw new SetupError(
    `The table ${table} is ${found.column === null ? 'copied to every node' : `distributed by ${found.column}`}, and not ${column === undefined ? 'copied to every node' : `distributed by ${column}`}: "SELECT undistribute_table('${table}')" takes that back.`,
  )
}

async function place(sql: Sql, { table, column }: Placement): Promise<void> {
  try {
    await (column === undefined
      ? sql`SELECT create_reference_table(${table}::text::regclass)`
      : sql`SELECT create_distributed_table(${table}::text::regclass, ${column}::text, colocate_with => 'none')`)
  } catch (error) {
    throw new SetupError(`Citus does not distribute the table ${table}: ${(error as Error).message}.`)
  }
}
