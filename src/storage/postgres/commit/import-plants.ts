import type { StoredPlant } from '../../../plants/plant.ts'
import { CONTENT_COLUMNS, PLANT_COLUMNS } from '../../plant-columns.ts'
import type { Sql, Transaction } from '../connection/client.ts'
import { INSERTED_COLUMNS, REPLACE_TAKEN, wordsAsVector } from './insert-plants.ts'

/**
 * Plants as arrays, one for each column: one statement serves any number of them, and a server reads an array faster
 * than as many parameters. Not for sharded plants: see `insert-plants.ts`.
 */
const ARRAY_TYPES = [
  ...['bigint', 'bigint', 'bigint', 'bigint'],
  ...CONTENT_COLUMNS.map(({ type }) => type),
  // The words.
  'text',
]
const COLUMNS = INSERTED_COLUMNS.join(', ')
const INSERT = `INSERT INTO plants (${COLUMNS})
  SELECT ${PLANT_COLUMNS}, words::tsvector
  FROM unnest(${ARRAY_TYPES.map((type, at) => `$${at + 1}::${type}[]`).join(', ')}) AS given (${COLUMNS})`

const INSERT_WHERE_FREE = `${INSERT} ON CONFLICT DO NOTHING RETURNING id`

const INSERT_OR_REPLACE = `${INSERT}
  ${REPLACE_TAKEN}`

/**
 * Adds plants in one statement, which is its own transaction. Returns the ids that were free. Of several plants with
 * one id the first is stored.
 */
export async function insertInBulk(
  sql: Sql | Transaction,
  plants: readonly StoredPlant[],
): Promise<Set<bigint>> {
  const byId = new Map<bigint, StoredPlant>()
  for (const plant of plants) if (!byId.has(plant.id)) byId.set(plant.id, plant)
  const rows = await sql.unsafe(INSERT_WHERE_FREE, arraysOf(byId), { prepare: true }).values()
  return new Set(rows.map(([id]) => id as bigint))
}

/** Stores plants and replaces those whose ids are taken, in one statement. Returns the ids that were free. */
export async function replaceInBulk(
  transaction: Transaction,
  byId: ReadonlyMap<bigint, StoredPlant>,
): Promise<Set<bigint>> {
  const rows = await transaction.unsafe(INSERT_OR_REPLACE, arraysOf(byId), { prepare: true }).values()
  return new Set(rows.filter(([, isNew]) => isNew === true).map(([id]) => id as bigint))
}

/** Ids as the text of a PostgreSQL array. */
export function idsAsArray(ids: Iterable<bigint>): string {
  return `{${[...ids].join()}}`
}

function arraysOf(byId: ReadonlyMap<bigint, StoredPlant>): string[] {
  // By id: two replicas that write the same ids in different orders would deadlock.
  const plants = [...byId.values()].sort((one, other) => (one.id < other.id ? -1 : 1))
  const arrayOf = (cellOf: (plant: StoredPlant) => bigint | number | string) =>
    `{${plants.map(cellOf).join()}}`
  return [
    arrayOf(({ id }) => id),
    arrayOf(({ createdAtMs }) => createdAtMs),
    arrayOf(({ updatedAtMs }) => updatedAtMs),
    arrayOf(({ version }) => version),
    ...CONTENT_COLUMNS.map(({ get }) => arrayOf((plant) => quoted(get(plant)))),
    arrayOf(({ name }) => quoted(wordsAsVector(name))),
  ]
}

/** A text or NULL as an element of an array (postgresql.org/docs/current/arrays.html#ARRAYS-IO). */
function quoted(text: string | null | undefined): string {
  if (text === null || text === undefined) return 'NULL'
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}
