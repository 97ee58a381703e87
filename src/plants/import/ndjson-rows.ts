import { AppError, invalidFields } from '../../errors.ts'
import { CONTENT_MEMBERS, type NewPlant, parseNewPlant } from '../plant.ts'
import { createImportRows, failRow, type ImportRows } from './import-rows.ts'

/**
 * A line in the form that programs write: an int64 in plain digits, no escapes, and only the members of our own export.
 * Almost every line of a large import has it, and this pattern takes a quarter of the time of a JSON parser. Both
 * produce the same plants.
 */
const PLAIN_LINE = plainLine()

function plainLine(): RegExp {
  const text = '"[ !#-[\\]-\uffff]*"'
  const captured = '"([ !#-[\\]-\uffff]*)"'
  const members = CONTENT_MEMBERS.map(({ name, isRequired }) => {
    const member = `, ?"${name}": ?${captured}`
    return isRequired ? member : `(?:${member})?`
  })
  const times = `(?:, ?"createdAt": ?${text}, ?"updatedAt": ?${text})?`
  return new RegExp(`\\{"id": ?(0|-?[1-9][0-9]{0,17})${members.join('')}${times}\\}\\r?\\n`, 'y')
}

/** The plant in a match of PLAIN_LINE. */
function plainPlant(match: RegExpExecArray): NewPlant {
  const plant: NewPlant = { id: idOf(match[1] as string), name: '' }
  for (let at = 0; at < CONTENT_MEMBERS.length; at++) {
    const text = match[2 + at]
    if (text !== undefined) CONTENT_MEMBERS[at]?.set(plant, text)
  }
  return plant
}

/** A line with only JSON white space. */
const BLANK = /^[ \t\r]*$/

const ARRAY_ADVICE = ' Put each plant on its own line, without brackets.'
/** Invalid JSON with this is probably a file that lost its line breaks. */
const SEVERAL_OBJECTS = /\}\s*\{/
const SEVERAL_ADVICE = 'Put each plant on its own line. With curl use --data-binary: -d removes line breaks.'

/** Integers with at most this many digits are exact as numbers, which are faster to parse. */
const SAFE_DIGITS_MAX = 15

/** A line that is not valid text; the text has an empty line in its place. */
export interface FaultyLine {
  /** Its index among the lines of the text, from 0. */
  at: number
  fault: AppError
}

/**
 * Reads NDJSON, some lines at a time. `parseJson` returns an int64 as a bigint, as `parseNewPlant` requires, and throws
 * an AppError for invalid JSON.
 */
export function createNdjsonRows(parseJson: (text: string) => unknown) {
  let line = 1

  function readLine(text: string, rows: ImportRows): void {
    if (BLANK.test(text)) return
    let body: unknown
    try {
      body = parseJson(text)
      if (typeof body !== 'object' || body === null || Array.isArray(body)) {
        const message = `The line must be a JSON object.${Array.isArray(body) ? ARRAY_ADVICE : ''}`
        throw invalidFields([{ name: '', rule: 'object', message }])
      }
      const plant = parseNewPlant(body)
      rows.plants.push(plant)
      rows.lines.push(line)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      const id = (body as { id?: unknown } | null | undefined)?.id
      const hasLostLineBreaks = error.code === 40002 && SEVERAL_OBJECTS.test(text)
      const fault = hasLostLineBreaks ? new AppError(40002, `${error.message} ${SEVERAL_ADVICE}`) : error
      failRow(rows, line, fault, typeof id === 'bigint' ? id : undefined)
    }
  }

  return {
    /** Reads the next lines. Each ends with a line feed. */
    read(text: string, faults: readonly FaultyLine[]): ImportRows {
      const rows = createImportRows(line, text.length)
      for (const { at, fault } of faults) failRow(rows, line + at, fault)
      for (let at = 0; at < text.length; line++) {
        PLAIN_LINE.lastIndex = at
        const plain = PLAIN_LINE.exec(text)
        if (plain === null) {
          const end = text.indexOf('\n', at)
          readLine(text.slice(at, end), rows)
          at = end + 1
        } else {
          rows.plants.push(plainPlant(plain))
          rows.lines.push(line)
          at += plain[0].length
        }
      }
      rows.nextLine = line
      if (faults.length > 0) rows.failures.sort((one, other) => one.line - other.line)
      return rows
    },
  }
}

function idOf(digits: string): bigint {
  return digits.length <= SAFE_DIGITS_MAX ? BigInt(Number(digits)) : BigInt(digits)
}
