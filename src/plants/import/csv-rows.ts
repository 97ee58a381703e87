import { AppError, type FieldProblem, invalidFields, invalidParameter } from '../../errors.ts'
import {
  CONTENT_MEMBERS,
  ID_MAX,
  ID_MIN,
  type NewPlant,
  type PlantContent,
  parseIdText,
  parseNewPlant,
} from '../plant.ts'
import { createImportRows, failRow, type ImportRows } from './import-rows.ts'

/** Far more than a table of plants has, and few enough that a header row of them is soon judged. */
export const COLUMNS_MAX = 1_000
/** Of a header row that lacks something so much is repeated, for people to see what was taken for one. */
const SHOWN_HEADER_CHARACTERS = 200

type Field = 'id' | keyof PlantContent
const FIELDS: readonly Field[] = ['id', ...CONTENT_MEMBERS.map(({ name }) => name)]

/** Which cell of a row holds which field. */
interface Columns {
  count: number
  id: number | undefined
  /** Those that there are. */
  content: { name: keyof PlantContent; at: number }[]
}

export interface CsvRowsOptions {
  /** The names of the columns of a table without a header row. */
  columns: readonly string[] | undefined
  /** Rows are numbered from here on, and what an id column says does not count. */
  idStart: bigint | undefined
}

/** A table that is read row by row. */
export interface CsvRows {
  /**
   * Reads a row of cells that begins on that line; a blank line has none, and is passed over. `fault` tells where it
   * is not sound as text. Throws 40003 for a
   * header row without what a plant needs.
   */
  read(cells: readonly string[], line: number, fault: AppError | undefined): void
  /** The rows that were read since the last time; `nextLine` is that behind them. */
  take(nextLine: number, characters: number): ImportRows
  /** No more rows come: throws 40003 where not even a header row did. */
  end(): void
}

/**
 * Reads the rows of a table. The first is the header row, unless there are `columns`. Throws 40004 for columns that
 * hold no plants.
 */
export function createCsvRows({ columns: names, idStart }: CsvRowsOptions): CsvRows {
  let columns =
    names &&
    columnsOf(names, idStart, ({ message }) =>
      invalidParameter('columns', `The columns are wrong. ${message}`),
    )
  let nextId = idStart
  let rows = createImportRows(1, 0)

  function readRow(
    cells: readonly string[],
    line: number,
    fault: AppError | undefined,
    known: Columns,
  ): void {
    const id = idStart === undefined ? idIn(cells, known) : numbered()
    try {
      if (fault !== undefined) throw fault
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

  return {
    read(cells, line, fault) {
      const isBlank = cells.length === 0 && fault === undefined
      if (isBlank) return
      if (columns === undefined) columns = headerOf(cells, line, fault, idStart)
      else readRow(cells, line, fault, columns)
    },
    take(nextLine, characters) {
      const taken = rows
      taken.nextLine = nextLine
      taken.characters = characters
      rows = createImportRows(nextLine, 0)
      return taken
    },
    end() {
      if (columns === undefined) throw invalidFields([NO_HEADER])
    },
  }
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

const COLUMNS_ADVICE = 'For a file without a header row, name its columns in the parameter columns.'
/** Separators that spreadsheets of some countries write, and tables on the clipboard have. */
const OTHER_SEPARATORS = { ';': 'semicolons', '\t': 'tabs' }
const NDJSON_ADVICE = 'It looks like NDJSON. Send that with Content-Type: application/x-ndjson.'

function headerOf(
  cells: readonly string[],
  line: number,
  fault: AppError | undefined,
  idStart: bigint | undefined,
): Columns {
  const isNdjson = cells[0]?.trimStart().startsWith('{') === true
  if (fault !== undefined) {
    const { code, message, details } = fault
    const fields = details?.fields?.map((field) => ({ ...field, line }))
    const advice = isNdjson ? ` ${NDJSON_ADVICE}` : ''
    throw new AppError(code, `The header row is not readable. ${message}${advice}`, {
      details: { ...details, ...(fields && { fields }) },
    })
  }
  return columnsOf(cells, idStart, ({ message, ...field }) => {
    const shown = JSON.stringify(cells.join(', ').slice(0, SHOWN_HEADER_CHARACTERS))
    const advice = isNdjson ? NDJSON_ADVICE : (separatorAdvice(cells) ?? COLUMNS_ADVICE)
    const about = `The header row is wrong: ${shown}. ${message} ${advice}`
    return invalidFields([{ ...field, line, message: about }])
  })
}

/** Of a header row that would name the columns if its cells were parted by something else than commas. */
function separatorAdvice([cell = '', ...others]: readonly string[]): string | undefined {
  if (others.length > 0) return undefined
  for (const [separator, separators] of Object.entries(OTHER_SEPARATORS)) {
    const names = cell.split(separator).map((name) => name.trim().toLowerCase())
    if (names.length > 1 && names.includes('name')) {
      return `It looks separated by ${separators}. Separate the cells by commas.`
    }
  }
  return undefined
}

/** Which column holds which field: names in any case and order, others than the fields are ignored. */
function columnsOf(
  names: readonly string[],
  idStart: bigint | undefined,
  errorOf: (problem: FieldProblem) => AppError,
): Columns {
  if (names.length > COLUMNS_MAX) {
    throw errorOf({ name: '', rule: 'max-items', message: `At most ${COLUMNS_MAX} columns are supported.` })
  }
  const places = new Map<Field, number>()
  for (const [at, text] of names.entries()) {
    const name = text.trim().toLowerCase()
    const field = FIELDS.find((one) => one === name)
    if (field === undefined) continue
    if (places.has(field)) {
      throw errorOf({ name: field, rule: 'unique', message: `The column ${field} must be named once.` })
    }
    places.set(field, at)
  }
  for (const { name, isRequired } of CONTENT_MEMBERS) {
    if (!isRequired || places.has(name)) continue
    throw errorOf({ name, rule: 'required', message: `A column ${name} is required.` })
  }
  if (idStart === undefined && !places.has('id')) {
    const message = 'A column id is required, or the parameter idStart to number the rows.'
    throw errorOf({ name: 'id', rule: 'required', message })
  }
  const id = idStart === undefined ? places.get('id') : undefined
  const content = CONTENT_MEMBERS.flatMap(({ name }) => {
    const at = places.get(name)
    return at === undefined ? [] : [{ name, at }]
  })
  return { count: names.length, id, content }
}
