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
  /** The id of the first row. The rows get consecutive ids, and an id column is ignored. */
  idStart: bigint | undefined
}

/** A table in UTF-8 that is read in chunks. Both methods throw 40003 for a header row without required columns. */
export interface CsvRows {
  /** The rows that end in the chunk. Throws 40002 for a row without an end. */
  read(chunk: Uint8Array): ImportRows
  /** The rows that end with the table. Throws 40003 if it has no header row. */
  end(): ImportRows
}

/**
 * Reads the rows of a table. The first is the header row, unless there are `columns`. Throws 40004 if `columns` lacks a
 * required one.
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
    const id = idStart === undefined ? idIn(cells, known) : takeId()
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

  /** The id of this row; undefined after the last possible id. */
  function takeId(): bigint | undefined {
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
      'The row is not valid UTF-8. Set the parameter encoding to the encoding of the file, such as windows-1252.',
      { details: { fields: [{ name: '', rule: 'utf-8' }] } },
    )
  }
  return new AppError(
    40002,
    'The row is not CSV. A cell that begins with a quotation mark must end with one. Double those inside it.',
    { details: { fields: [{ name: '', rule: 'well-formed' }] } },
  )
}

function endError({ line, reason }: RowEndError): AppError {
  const message =
    reason === 'quoteNotClosed'
      ? 'The row has a quotation mark that is never closed.'
      : 'The row does not end within 1 MiB. It may have a quotation mark that is never closed.'
  return new AppError(40002, message, { details: { fields: [{ name: '', rule: 'well-formed', line }] } })
}

const ID_CELL: FieldProblem = {
  name: 'id',
  rule: 'int64',
  message: `id must be an integer from ${ID_MIN} to ${ID_MAX} in plain digits, without spaces.`,
}

const NUMBERS_ENDED: FieldProblem = {
  name: 'id',
  rule: 'max',
  message: `The row has no id: an earlier row has the largest id, ${ID_MAX}.`,
}

const NO_HEADER: FieldProblem = {
  name: '',
  rule: 'required',
  message: 'The table has no header row. It must name the columns.',
}

/** The plant in a row. `ownId` is its id if the row has a valid one. Throws 40003. */
function plantIn(
  cells: readonly string[],
  { count, id, content }: Columns,
  ownId: bigint | undefined,
): NewPlant {
  if (cells.length > count) {
    const message = `The row has ${cells.length} cells, but the table has only ${count} columns.`
    throw invalidFields([{ name: '', rule: 'max-items', message }])
  }
  if (id !== undefined && ownId === undefined && cells[id]) throw invalidFields([ID_CELL])
  const members: Partial<NewPlant> = {}
  if (ownId !== undefined) members.id = ownId
  for (const { name, at } of content) {
    const cell = cells[at]
    // An empty cell has no value.
    if (cell) members[name] = cell
  }
  return parseNewPlant(members)
}

function idIn(cells: readonly string[], { id }: Columns): bigint | undefined {
  const cell = id === undefined ? undefined : cells[id]
  return cell === undefined ? undefined : parseIdText(cell)
}
