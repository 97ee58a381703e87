import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { nameHolds } from '../../../plants/plant-search.ts'
import { firstIdAfter, type PlantFilter } from '../../../plants/plant-store.ts'
import {
  CONTENT_AT,
  CONTENT_COLUMNS,
  type ContentArrays,
  createContentArrays,
  placeInRow,
} from '../../plant-columns.ts'
import { openReader } from '../connection/open-connection.ts'
import { rememberFiles } from '../connection/opened-files.ts'
import { fts5Query } from './fts5-query.ts'

/** Rows that are read for a chunk of an export: about a millisecond, during which searches wait. */
const CHUNK_ROWS_MAX = 512
/** Characters after which a chunk ends: names may be a megabyte long. */
const CHUNK_CHARACTERS = 256 * 1024

/** Plants as columns: cheaper to send to a thread than an object for each plant. */
export interface PlantColumns {
  ids: BigInt64Array
  createdAtMs: Float64Array
  updatedAtMs: Float64Array
  versions: Float64Array
  content: ContentArrays
}

/** A row of an export. Times and version are read as numbers, not as bigints. */
type ExportRow = [
  id: bigint,
  createdAtMs: number,
  updatedAtMs: number,
  version: number,
  ...content: (string | null)[],
]

const COLUMNS = [
  ...['plants.id', 'CAST(created_at AS REAL)', 'CAST(updated_at AS REAL)', 'CAST(version AS REAL)'],
  ...CONTENT_COLUMNS.map(({ column }) => column),
].join(', ')
const NAME_AT = placeInRow('name')
const TAG_AT = placeInRow('tag')

interface Export {
  database: DatabaseSync
  rows: Iterator<ExportRow>
  filter: PlantFilter
}

/** The running exports in the searcher thread; each has a connection and a snapshot. */
export function createExportReads(path: string) {
  const exports = new Map<number, Export>()
  const file = rememberFiles(path)

  function open(key: number, filter: PlantFilter): void {
    const database = openReader(path)
    try {
      database.exec('BEGIN')
      if (!file.areInPlace()) throw new Error('the file of the database was moved')
      // The first read takes the snapshot.
      database.prepare('SELECT 1 FROM migrations').get()
      exports.set(key, { database, rows: selectRows(database, filter), filter })
    } catch (error) {
      database.close()
      throw error
    }
  }

  /** Reads the next plants, perhaps none; undefined at the end. Throws if the export is closed. */
  function read(key: number): PlantColumns | undefined {
    const found = exports.get(key)
    if (found === undefined) throw new Error('the export is closed')
    const { rows, filter } = found
    const plants: ExportRow[] = []
    let characters = 0
    let rowsRead = 0
    while (rowsRead < CHUNK_ROWS_MAX && characters < CHUNK_CHARACTERS) {
      const { done, value: row } = rows.next()
      if (done) return rowsRead === 0 ? undefined : columnsOf(plants)
      rowsRead++
      for (let at = CONTENT_AT; at < row.length; at++) characters += (row[at] as string | null)?.length ?? 0
      if (isWanted(row, filter)) plants.push(row)
    }
    return columnsOf(plants)
  }

  function close(key: number): void {
    exports.get(key)?.database.close()
    exports.delete(key)
  }

  return {
    open,
    read,
    close,
    closeAll(): void {
      for (const key of exports.keys()) close(key)
    },
  }
}

function selectRows(database: DatabaseSync, { afterId, tag, words }: PlantFilter): Iterator<ExportRow> {
  const fromId = firstIdAfter(afterId)
  if (fromId === undefined || words?.length === 0) return [].values()
  const prepare = (sql: string): StatementSync => {
    const statement = database.prepare(sql)
    statement.setReadBigInts(true)
    statement.setReturnArrays(true)
    return statement
  }
  const found =
    words !== undefined
      ? prepare(
          `SELECT ${COLUMNS} FROM plant_words JOIN plants ON plants.id = plant_words.rowid
          WHERE plant_words MATCH ?1 AND plant_words.rowid >= ?2 ORDER BY plant_words.rowid`,
        ).iterate(fts5Query(words), fromId)
      : tag !== undefined
        ? prepare(`SELECT ${COLUMNS} FROM plants WHERE tag = ? AND id >= ? ORDER BY id`).iterate(tag, fromId)
        : prepare(`SELECT ${COLUMNS} FROM plants WHERE id >= ? ORDER BY id`).iterate(fromId)
  return found as Iterator<unknown> as Iterator<ExportRow>
}

/** The name decides on words that the index lacks. The tag is checked here, so that a chunk ends even if few match. */
function isWanted(row: ExportRow, filter: PlantFilter): boolean {
  if (filter.words === undefined) return true
  const hasTag = filter.tag === undefined || filter.tag === row[TAG_AT]
  return hasTag && nameHolds(row[NAME_AT] as string, filter.words)
}

function columnsOf(rows: readonly ExportRow[]): PlantColumns {
  const columns: PlantColumns = {
    ids: new BigInt64Array(rows.length),
    createdAtMs: new Float64Array(rows.length),
    updatedAtMs: new Float64Array(rows.length),
    versions: new Float64Array(rows.length),
    content: createContentArrays(rows.length),
  }
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at] as ExportRow
    columns.ids[at] = row[0]
    columns.createdAtMs[at] = row[1]
    columns.updatedAtMs[at] = row[2]
    columns.versions[at] = row[3]
    for (let member = 0; member < columns.content.length; member++) {
      const array = columns.content[member] as (string | null)[]
      array[at] = row[CONTENT_AT + member] as string | null
    }
  }
  return columns
}
