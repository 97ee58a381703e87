import type { StoredPlant } from '../../plants/plant.ts'
import { nameHolds } from '../../plants/plant-search.ts'
import { firstIdAfter, type PlantFilter } from '../../plants/plant-store.ts'
import {
  CONTENT_COLUMNS,
  charactersIn,
  OWN_COLUMNS,
  PLANT_COLUMNS,
  type PlantRow,
  plantRow,
  rowToPlant,
} from '../plant-columns.ts'
import type { ExportSource } from '../plant-export.ts'
import {
  createPostgresClient,
  type PostgresClient,
  type PostgresClientOptions,
  type Sql,
} from './connection/client.ts'
import { hasTag } from './tag-condition.ts'
import { tsquery } from './tsquery.ts'

/**
 * Exports at once. Each has its own connection, as it may take an hour and the pool would lack one. Each holds a
 * snapshot, and while it does the server cannot vacuum deleted rows.
 */
export const EXPORTS_MAX = 4

/** Plants that are fetched at once. */
const FETCH_PLANTS = 512
/**
 * Bytes of content that are fetched with its row. Longer content is fetched separately, as 512 names of a megabyte do
 * not fit in memory.
 */
const FETCHED_BYTES_MAX = 8 * 1024
/** Characters after which a chunk ends. */
const CHUNK_CHARACTERS = 256 * 1024

/**
 * The idle timeout of an export: its snapshot prevents the vacuum of deleted rows. It overrides the server's setting,
 * which may be shorter.
 */
const IDLE_MAX_MS = 10 * 60_000

/** A fetched row: the content is null if it is fetched separately. */
type FetchedRow = [...row: PlantRow, isWhole: boolean]

const CONTENT_IF_WHOLE = CONTENT_COLUMNS.map(({ column }) => `CASE WHEN is_whole THEN ${column} END`)
const CONTENT_BYTES = CONTENT_COLUMNS.map(({ column }) => `coalesce(octet_length(${column}), 0)`)

const SELECT_PLANT = `SELECT ${PLANT_COLUMNS} FROM plants WHERE id = $1`
const FETCH = `FETCH ${FETCH_PLANTS} FROM exported`

/** Opens exports, each with its own connection. */
export function createPostgresExportOpening(
  options: Omit<PostgresClientOptions, 'connections' | 'keepsConnections'>,
) {
  return async function openExport(filter: PlantFilter): Promise<ExportSource> {
    const client = createPostgresClient({ ...options, connections: 1, keepsConnections: true })
    try {
      const isEmpty = firstIdAfter(filter.afterId) === undefined || filter.words?.length === 0
      if (!isEmpty) await client.read((sql) => openCursor(sql, filter))
      return { read: isEmpty ? async () => undefined : createReading(client, filter), close: client.close }
    } catch (error) {
      await client.close()
      throw error
    }
  }
}

async function openCursor(sql: Sql, { afterId, tag, words }: PlantFilter): Promise<void> {
  const parameters: (bigint | string)[] = [firstIdAfter(afterId) ?? 0n]
  const conditions = ['id >= $1']
  if (tag !== undefined) conditions.push(hasTag(`$${parameters.push(tag)}`))
  if (words !== undefined) conditions.push(`words @@ $${parameters.push(tsquery(words))}::tsquery`)
  await sql.unsafe(
    `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
    SET LOCAL idle_in_transaction_session_timeout = ${IDLE_MAX_MS}`,
  )
  await sql.unsafe(
    `DECLARE exported NO SCROLL CURSOR FOR
    SELECT ${[...OWN_COLUMNS, ...CONTENT_IF_WHOLE].join(', ')}, is_whole
    FROM (
      SELECT ${PLANT_COLUMNS}, ${CONTENT_BYTES.join(' + ')} <= ${FETCHED_BYTES_MAX} AS is_whole
      FROM plants WHERE ${conditions.join(' AND ')}
    ) AS matching
    ORDER BY id`,
    parameters,
  )
}

function createReading(client: PostgresClient, { words }: PlantFilter): ExportSource['read'] {
  let fetched: FetchedRow[] = []
  let at = 0

  async function fetchWhole(id: bigint): Promise<StoredPlant> {
    const [row] = await client.read((sql) => sql.unsafe(SELECT_PLANT, [id], { prepare: true }).values())
    return rowToPlant(plantRow(row))
  }

  return async () => {
    if (at === fetched.length) {
      at = 0
      // The driver does not type the rows of a statement: these are the columns of the cursor.
      fetched = (await client.read((sql) => sql.unsafe(FETCH).values())) as unknown as FetchedRow[]
      if (fetched.length === 0) return undefined
    }
    const plants: StoredPlant[] = []
    for (let characters = 0; at < fetched.length && characters < CHUNK_CHARACTERS; at++) {
      const row = fetched[at] as FetchedRow
      // The columns of a plant come first.
      const plant = row.at(-1) === true ? rowToPlant(plantRow(row)) : await fetchWhole(row[0])
      characters += charactersIn(plant)
      // Words are truncated in the index; the name itself decides.
      if (words === undefined || nameHolds(plant.name, words)) plants.push(plant)
    }
    return plants
  }
}
