import { AppError, type FieldProblem, invalidFields } from '../../errors.ts'
import { CONTENT_MEMBERS, type PlantContent } from '../plant.ts'
import { COLUMNS_MAX, columnMembers, type Delimiter, otherDelimiterOf } from './table-dialect.ts'

/** How much of a wrong header row the message quotes. */
const SHOWN_HEADER_CHARACTERS = 200

type Field = 'id' | keyof PlantContent
const FIELDS: readonly Field[] = ['id', ...CONTENT_MEMBERS.map(({ name }) => name)]

/** Which cell of a row holds which field. */
export interface Columns {
  count: number
  id: number | undefined
  /** The columns of members that the table has. */
  content: { name: keyof PlantContent; at: number }[]
}

const COLUMNS_ADVICE = 'For a file without a header row, name its columns in the parameter columns.'
const DELIMITER_NAMES: Record<Delimiter, string> = { ',': 'commas', ';': 'semicolons', '\t': 'tabs' }
const NDJSON_ADVICE = 'It looks like NDJSON. Send that with Content-Type: application/x-ndjson.'

/** The columns that a header row names. Throws 40003 for missing columns, and the fault of the row if it has one. */
export function headerOf(
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
    throw new AppError(code, `The header row cannot be read. ${message}${advice}`, {
      details: { ...details, ...(fields && { fields }) },
    })
  }
  return columnsOf(cells, idStart, ({ message, ...field }) => {
    const shown = JSON.stringify(cells.join(', ').slice(0, SHOWN_HEADER_CHARACTERS))
    const advice = isNdjson ? NDJSON_ADVICE : (delimiterAdvice(cells) ?? COLUMNS_ADVICE)
    const about = `The header row is wrong: ${shown}. ${message} ${advice}`
    return invalidFields([{ ...field, line, message: about }])
  })
}

/** Advice for a header row that would be valid with another delimiter. */
function delimiterAdvice(cells: readonly string[]): string | undefined {
  const delimiter = otherDelimiterOf(cells)
  return delimiter && `The cells seem to be separated by ${DELIMITER_NAMES[delimiter]}. Use commas.`
}

/** Maps the columns to fields: names in any case and order; other columns are ignored. Throws `errorOf`. */
export function columnsOf(
  names: readonly string[],
  idStart: bigint | undefined,
  errorOf: (problem: FieldProblem) => AppError,
): Columns {
  if (names.length > COLUMNS_MAX) {
    throw errorOf({ name: '', rule: 'max-items', message: `At most ${COLUMNS_MAX} columns are supported.` })
  }
  const places = new Map<Field, number>()
  for (const [at, field] of columnMembers(names, FIELDS).entries()) {
    if (field === undefined) continue
    if (places.has(field)) {
      throw errorOf({ name: field, rule: 'unique', message: `The column ${field} must occur only once.` })
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
