import { AppError, type FieldProblem, invalidFields, invalidParameter } from '../../errors.ts'
import { ID_MAX, ID_MIN, type NewPlant, parseIdText, parseNewPlant } from '../plant.ts'
import { type Columns, columnsOf, headerOf } from './csv-columns.ts'
import { createImportRows, failRow, type ImportRows } from './import-rows.ts'
import { createRowReader, type RowFault, type TableRow } from './row-reader.ts'
import { RowEndError } from './row-scanner.ts'
import { ROW_BYTES_MAX } from './table-dialect.ts'

export interface CsvRowsOptions {
  /** The names of the columns of a table without a header row. */
  columns: readonly string[] | undefined
  /** Rows are numbered from here on, and what an id column says does not count. */
  idStart: bigint | undefined
}

/** A table in UTF-8 that is read in chunks. Both throw 40003 for a header row without what a plant needs. */
export interface CsvRows {
  /** The rows that the chunk ends. Throws 40002 where a row has no end. */
  read(chunk: Uint8Array): ImportRows
  /** The same when no more chunks come. Throws 40003 where not even a header row came. */
  end(): ImportRows
}

/**
 * Reads the rows of a table. The first is the header row, unless there are `columns`. Throws 40004 for columns that
 * hold no plants.
 */
export function createCsvRows({ columns: names, idStart }: CsvRowsOptions): CsvRows {
  let columns =
    names &&
    columnsOf(names, idStart, ({ message, ...field }) =>
      invalidParameter('columns', `The columns are wrong. ${message}`, [field]),
    )
  let nextId = idStart
  let rows = createImportRows(1, 0)

  function addRow({ cells, line, fault }: TableRow, known: Columns): void {
    const id = idStart === undefined ? idIn(cells, known) : numbered()
    try {
      if (fault !== undefined) throw faultError(fault)
      if (idStart !== undefined && id === undefined) throw invalidFields([NUMBERS_ENDED])
      rows.plants.push(plantIn(cells, known, id))
      rows.lines.push(line)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      failRow(rows, line, error, id)
    }
  }

  /** The number of this row; undefined beyond the last id that there is. */
  function numbered(): bigint | undefined {
    const id = nextId
    if (id !== undefined) nextId = id === ID_MAX ? undefined : id + 1n
    return id
  }

  const reader = createRowReader((row) => {
    const { cells, line, fault } = row
    const isBlank = cells.length === 0 && fault === undefined
    if (isBlank) return
    if (columns !== undefined) addRow(row, columns)
    else columns = headerOf(cells, line, fault && faultError(fault), idStart)
  })

  function rowsOf(read: () => void, characters: number): ImportRows {
    try {
      read()
    } catch (error) {
      throw error instanceof RowEndError ? endError(error) : error
    }
    const ended = rows
    ended.nextLine = reader.line
    ended.characters = characters
    rows = createImportRows(reader.line, 0)
    return ended
  }

  return {
    read: (chunk) => rowsOf(() => reader.read(chunk), chunk.length),
    end() {
      const last = rowsOf(reader.end, 0)
      if (columns === undefined) throw invalidFields([NO_HEADER])
      return last
    },
  }
}

function faultError(fault: RowFault): AppError {
  if (fault === 'tooLong') return new AppError(41301, `The row is longer than ${ROW_BYTES_MAX} bytes.`)
  if (fault === 'notUtf8') {
    return new AppError(
      40002,
      'The row is not valid UTF-8. Name its encoding in the parameter encoding, such as windows-1252.',
      { details: { fields: [{ name: '', rule: 'utf-8' }] } },
    )
  }
  return new AppError(
    40002,
    'The row is not CSV. A cell that begins with a quotation mark must end with one, and those within are doubled.',
    { details: { fields: [{ name: '', rule: 'well-formed' }] } },
  )
}

function endError({ line, reason }: RowEndError): AppError {
  const message =
    reason === 'quoteNotClosed'
      ? 'The row has a quotation mark that is never closed.'
      : 'The row has no end within a mebibyte. A quotation mark in it may never be closed.'
  return new AppError(40002, message, { details: { fields: [{ name: '', rule: 'well-formed', line }] } })
}

const ID_CELL: FieldProblem = {
  name: 'id',
  rule: 'int64',
  message: `id must be a whole decimal number from ${ID_MIN} to ${ID_MAX} in plain digits, without spaces.`,
}

const NUMBERS_ENDED: FieldProblem = {
  name: 'id',
  rule: 'max',
  message: `The numbering has reached ${ID_MAX}, the last id.`,
}

const NO_HEADER: FieldProblem = {
  name: '',
  rule: 'required',
  message: 'There is no header row that names the columns.',
}

/** The plant in a row whose id was read before. Throws 40003. */
function plantIn(
  cells: readonly string[],
  { count, id, content }: Columns,
  ownId: bigint | undefined,
): NewPlant {
  if (cells.length > count) {
    const message = `The row has ${cells.length} cells, but there are only ${count} columns.`
    throw invalidFields([{ name: '', rule: 'max-items', message }])
  }
  if (id !== undefined && ownId === undefined && cells[id]) throw invalidFields([ID_CELL])
  const members: Partial<NewPlant> = {}
  if (ownId !== undefined) members.id = ownId
  for (const { name, at } of content) {
    const cell = cells[at]
    // An empty cell is no text.
    if (cell) members[name] = cell
  }
  return parseNewPlant(members)
}

function idIn(cells: readonly string[], { id }: Columns): bigint | undefined {
  const cell = id === undefined ? undefined : cells[id]
  return cell === undefined ? undefined : parseIdText(cell)
}
