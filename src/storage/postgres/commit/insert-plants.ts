import type { StoredPlant } from '../../../plants/plant.ts'
import { searchWords } from '../../../plants/plant-search.ts'
import { CONTENT_COLUMNS, charactersIn, PLANT_COLUMN_NAMES, plantToRow } from '../../plant-columns.ts'
import type { Sql, Transaction } from '../connection/client.ts'

/**
 * Rows of a statement: few sizes, so that each is prepared and planned only once for a connection. A smaller batch is
 * padded with copies of one of its rows, which conflict with it and are not stored.
 */
const STATEMENT_ROWS = [1, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512]

/** The operations of a batch at most; imports use `import-plants.ts`. */
const STATEMENT_ROWS_MAX = 512

/** A lexeme of a tsvector has at most 2,046 bytes; a UTF-16 unit takes up to three. */
const LEXEME_UNITS_MAX = 600

/** The columns of a plant and the words of its name. */
export const INSERTED_COLUMNS = [...PLANT_COLUMN_NAMES, 'words']

/**
 * Returns each id, and whether it was free: a row that was there has a transaction in xmax, the one that has just
 * locked it.
 */
export const REPLACE_TAKEN = `ON CONFLICT (id) DO UPDATE
  SET ${CONTENT_COLUMNS.map(({ column }) => `${column} = excluded.${column}`).join(', ')},
    version = excluded.version, words = excluded.words, updated_at = greatest(plants.updated_at, excluded.updated_at)
  RETURNING id, xmax = 0`

/** Values in the order of INSERTED_COLUMNS, of one plant or of several. */
type InsertedValues = (bigint | string | number | null)[]

const INSERT_STATEMENTS = new Map(
  STATEMENT_ROWS.map((rows) => [rows, `${insertStatement(rows)} ON CONFLICT DO NOTHING RETURNING id`]),
)

/**
 * Adds plants, up to STATEMENT_ROWS_MAX in one statement, which is its own transaction. Returns the ids that were free.
 * Of several plants with one id the first is stored.
 */
export async function insertPlants(
  sql: Sql | Transaction,
  plants: readonly StoredPlant[],
): Promise<Set<bigint>> {
  const inserted = new Set<bigint>()
  // By id: two replicas that insert the same ids in different orders would deadlock.
  const all = plants.toSorted((one, other) => (one.id < other.id ? -1 : Number(one.id > other.id)))
  for (let from = 0; from < plants.length; from += STATEMENT_ROWS_MAX) {
    const ordered = all.slice(from, from + STATEMENT_ROWS_MAX)
    const size = STATEMENT_ROWS.find((rows) => rows >= ordered.length) ?? STATEMENT_ROWS_MAX
    const filler = smallest(ordered)
    const parameters: InsertedValues = []
    for (let row = 0; row < size; row++) addRow(parameters, ordered[row] ?? filler)
    const rows = await sql
      .unsafe<{ id: bigint }[]>(INSERT_STATEMENTS.get(size) ?? '', parameters, { prepare: true })
      .values()
    for (const [id] of rows) inserted.add(id as bigint)
  }
  return inserted
}

/**
 * Inserts plants, over those whose ids are taken, a row a plant: where plants are sharded this takes a tenth of the
 * time of `INSERT … SELECT`, which the coordinator plans for every shard. Returns the ids that were free.
 */
export async function replacePlants(
  transaction: Transaction,
  byId: ReadonlyMap<bigint, StoredPlant>,
): Promise<Set<bigint>> {
  const free = new Set<bigint>()
  // In the order of the ids, for the reason above.
  const all = [...byId.values()].sort((one, other) => (one.id < other.id ? -1 : 1))
  for (let from = 0; from < all.length; from += STATEMENT_ROWS_MAX) {
    const plants = all.slice(from, from + STATEMENT_ROWS_MAX)
    const parameters: InsertedValues = []
    for (const plant of plants) addRow(parameters, plant)
    const statement = `${insertStatement(plants.length)} ${REPLACE_TAKEN}`
    const prepare = plants.length === STATEMENT_ROWS_MAX
    const rows = await transaction.unsafe(statement, parameters, { prepare }).values()
    for (const [id, isNew] of rows) if (isNew === true) free.add(id as bigint)
  }
  return free
}

/** A plant in the order of INSERTED_COLUMNS. */
export function insertedRowOf(plant: StoredPlant): InsertedValues {
  const row: InsertedValues = []
  addRow(row, plant)
  return row
}

/** The words of a name as the text of a tsvector. Words contain nothing to escape. */
export function wordsAsVector(name: string): string {
  return searchWords(name)
    .map((word) => `'${lexemeOf(word)}'`)
    .join(' ')
}

/** A word as it is indexed: truncated to the length of a lexeme. */
export function lexemeOf(word: string): string {
  return word.length <= LEXEME_UNITS_MAX ? word : word.slice(0, LEXEME_UNITS_MAX).toWellFormed()
}

function insertStatement(rows: number): string {
  const values = Array.from({ length: rows }, (_, row) => {
    const places = INSERTED_COLUMNS.map((_, column) => `$${row * INSERTED_COLUMNS.length + column + 1}`)
    return `(${places.join(',')})`
  })
  return `INSERT INTO plants (${INSERTED_COLUMNS.join(', ')}) VALUES ${values.join(',')}`
}

function addRow(rows: InsertedValues, plant: StoredPlant): void {
  plantToRow(plant, rows, rows.length)
  rows.push(wordsAsVector(plant.name))
}

function smallest(plants: readonly StoredPlant[]): StoredPlant {
  return plants.reduce((least, plant) => (charactersIn(plant) < charactersIn(least) ? plant : least))
}
