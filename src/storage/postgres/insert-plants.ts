import type { StoredPlant } from '../../plants/plant.ts'
import { searchWords } from '../../plants/plant-search.ts'
import type { Sql, Transaction } from './postgres-client.ts'

/** A lexeme of a tsvector has at most 2,046 bytes, and a UTF-16 unit at most three. */
const LEXEME_UNITS_MAX = 600

/**
 * Plants as seven arrays, one for each column: the statement is the same for any number of them, so it is
 * prepared once a connection, and a server reads an array faster than as many parameters.
 */
const GIVEN = `unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[])
  AS given (id, name, tag, created_at, updated_at, version, words)`

const INSERT = `INSERT INTO plants (id, name, tag, created_at, updated_at, version, words)
  SELECT id, name, tag, created_at, updated_at, version, words::tsvector FROM ${GIVEN}
  ON CONFLICT DO NOTHING RETURNING id`

const UPDATE = `UPDATE plants SET name = given.name, tag = given.tag, created_at = given.created_at,
  updated_at = given.updated_at, version = given.version, words = given.words::tsvector
  FROM ${GIVEN} WHERE plants.id = given.id`

/**
 * Adds plants in one statement, which on a server by itself is one transaction. Tells the ids that were free;
 * of several plants of one id the first is taken.
 */
export async function insertPlants(
  sql: Sql | Transaction,
  plants: readonly StoredPlant[],
): Promise<Set<bigint>> {
  // In the order of the ids, as two replicas that insert the same ones in other orders would lock each other out.
  const ordered = plants.toSorted((one, other) => (one.id < other.id ? -1 : Number(one.id > other.id)))
  const rows = await sql.unsafe<{ id: bigint }[]>(INSERT, arraysOf(ordered), { prepare: true }).values()
  return new Set(rows.map(([id]) => id as bigint))
}

/** Writes plants over those of the same ids, which the transaction has locked; no id may come twice. */
export async function updatePlants(transaction: Transaction, plants: readonly StoredPlant[]): Promise<void> {
  await transaction.unsafe(UPDATE, arraysOf(plants), { prepare: true })
}

/** Ids as an array is written. */
export function idsAsArray(ids: Iterable<bigint>): string {
  return `{${[...ids].join()}}`
}

/** The words of a name as a tsvector is written: words hold nothing that would need an escape. */
export function wordsAsVector(name: string): string {
  return searchWords(name)
    .map((word) => `'${lexemeOf(word)}'`)
    .join(' ')
}

/** A word as it is indexed: cut where it is longer than a lexeme may be. */
export function lexemeOf(word: string): string {
  return word.length <= LEXEME_UNITS_MAX ? word : word.slice(0, LEXEME_UNITS_MAX).toWellFormed()
}

function arraysOf(plants: readonly StoredPlant[]): string[] {
  const arrayOf = (cellOf: (plant: StoredPlant) => bigint | number | string) =>
    `{${plants.map(cellOf).join()}}`
  return [
    arrayOf(({ id }) => id),
    arrayOf(({ name }) => quoted(name)),
    arrayOf(({ tag }) => (tag === undefined ? 'NULL' : quoted(tag))),
    arrayOf(({ createdAtMs }) => createdAtMs),
    arrayOf(({ updatedAtMs }) => updatedAtMs),
    arrayOf(({ version }) => version),
    arrayOf(({ name }) => quoted(wordsAsVector(name))),
  ]
}

/** A text as an element of an array is written (postgresql.org/docs/current/arrays.html#ARRAYS-IO). */
function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}
