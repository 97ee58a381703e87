import type { StoredPlant } from '../../plants/plant.ts'
import { nameHolds } from '../../plants/plant-search.ts'
import { firstIdAfter, type PlantFilter } from '../../plants/plant-store.ts'
import { CONTENT_COLUMNS, charactersIn, PLANT_COLUMNS, type PlantRow, rowToPlant } from '../plant-columns.ts'
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
 * Exports at once: each has a connection of its own, since one of the pool that is in use for an hour would be
 * missing there, and holds a snapshot, while which the server keeps what is deleted.
 */
export const EXPORTS_MAX = 4

/** Plants that are fetched at once. */
const STEP_PLANTS = 512
/**
 * Bytes of a name or tag that are fetched with its row: what is longer is fetched by itself, so that a step
 * whose names are all a megabyte long does not have to fit in memory.
 */
const FETCHED_BYTES_MAX = 8 * 1024
/** Characters after which a step ends. */
const STEP_CHARACTERS = 256 * 1024

/**
 * After so long without a question the server ends an export, as its snapshot keeps what was deleted since; and not
 * sooner, whatever the server was set to.
 */
const IDLE_MAX_MS = 10 * 60_000

/** A row as it is fetched: the content is null where it is to be fetched by itself. */
type FetchedRow = [...row: PlantRow, isWhole: boolean]

const CONTENT_IF_WHOLE = CONTENT_COLUMNS.map(({ column }) => `CASE WHEN is_whole THEN ${column} END`)
const CONTENT_BYTES = CONTENT_COLUMNS.map(({ column }) => `coalesce(octet_length(${column}), 0)`)

const SELECT_PLANT = `SELECT ${PLANT_COLUMNS} FROM plants WHERE id = $1`
const FETCH = `FETCH ${STEP_PLANTS} FROM exported`

/** Opens exports, each with a connection of its own: it is in use for as long as it takes. */
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
    SELECT id, created_at, updated_at, version, ${CONTENT_IF_WHOLE.join(', ')}, is_whole
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
    // The driver does not know what a statement gives: these are the columns of a plant.
    return rowToPlant(row as unknown as PlantRow)
  }

  return async () => {
    if (at === fetched.length) {
      at = 0
      // The driver does not know what a statement gives: these are the columns of the cursor.
      fetched = (await client.read((sql) => sql.unsafe(FETCH).values())) as unknown as FetchedRow[]
      if (fetched.length === 0) return undefined
    }
    const plants: StoredPlant[] = []
    for (let characters = 0; at < fetched.length && characters < STEP_CHARACTERS; at++) {
      const row = fetched[at] as FetchedRow
      // The columns of a plant come first.
      const plant = row.at(-1) === true ? rowToPlant(row as unknown as PlantRow) : await fetchWhole(row[0])
      characters += charactersIn(plant)
      // The index knows no words beyond a length; the name itself decides.
      if (words === undefined || nameHolds(plant.name, words)) plants.push(plant)
    }
    return plants
  }
}
