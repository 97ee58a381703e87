import { isUtf8 } from 'node:buffer'
import { CsvError, Parser } from 'csv-parse'
import { AppError } from '../../errors.ts'

/** As with a line of NDJSON, without its ending: a plant that anybody typed is far shorter. */
export const RECORD_BYTES_MAX = 64 * 1024

/**
 * How far the end of a record is looked for. One that is too long is refused and those behind it are read; one
 * without an end, as where a quotation mark is never closed, would fill the memory. It bounds the cells as well,
 * each of which takes a byte at least; the limit of the parser would not, as it counts nothing for an empty one.
 */
const RECORD_END_WITHIN_BYTES = 1024 * 1024

/** More than the parser wants to see of what is behind a record before it tells of it. */
const LOOKAHEAD_BYTES_MAX = 8

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const QUOTATION_MARK = 0x22

/** A record of cells as RFC 4180 has them: each either whole in quotation marks, or not begun with one. */
const WELL_QUOTED = /^(?:(?:"(?:[^"]|"")*"|[^",\r\n][^,\r\n]*|)(?:,|\r?\n?$))*$/

/**
 * Told of each record, a row of a table: its cells, none where it is too long or a blank line, the line on which it
 * begins, from 1, and what is wrong with it as text.
 */
export type CsvRecordReader = (cells: readonly string[], line: number, fault: AppError | undefined) => void

/** Takes a text in CSV (RFC 4180) apart into records, with memory for one of them. */
export interface CsvSplitter {
  /**
   * Fulfils when the records that the piece brings to an end are told. Rejects with 40002 when one has no end, or with
   * what the reader threw.
   */
  take(piece: Buffer): Promise<void>
  /** Likewise for what is behind the last line ending. Rejects with 40002 when a quotation mark was never closed. */
  end(): Promise<void>
  /** The line on which the record begins that comes next. */
  readonly line: number
}

/**
 * A splitter for UTF-8. A record that is not, that is longer than RECORD_BYTES_MAX, or in which it is not clear
 * where a cell ends is a fault of its own. A quotation mark inside of a cell that does not begin with one is like
 * any other character. Lines end with LF, CRLF or CR.
 */
export function createCsvSplitter(read: CsvRecordReader): CsvSplitter {
  const window = createWindow()
  let line = 1
  let linesBefore = 0
  let failure: { error: unknown } | undefined

  const parser = new Parser({
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    relax_quotes: true,
  })
  const counted: { records: number } = parser.info
  // Every failure comes with the callback of what was asked for, too.
  parser.on('error', () => {})
  // Taken where they arise, while `info` tells where that is; the stream would hand them out later.
  parser.push = (record: string[] | null) => {
    // The parser takes the first record for the measure of the others, and makes an error, which it drops again but
    // which is dear, for each that has another number of cells. So every record is the first one.
    counted.records = 0
    if (record === null || failure !== undefined) return true
    try {
      tell(record)
    } catch (error) {
      failure = { error }
    }
    return true
  }

  function tell(cells: string[]): void {
    const { bytes, lines } = parser.info
    if (window.lengthTo(bytes) > RECORD_END_WITHIN_BYTES) throw endless(line)
    const isBlank = cells.length === 1 && cells[0] === '' && window.beginsWithLineEnd()
    const fault = window.faultOf(cells, bytes)
    read(isBlank || fault?.code === 41301 ? [] : cells, line, fault)
    // What `info` counts in a cell with CRLF is twice as many, but more than one.
    line += 1 + (lines - linesBefore > 1 ? lineEndingsIn(cells) : 0)
    linesBefore = lines
  }

  async function run(work: (done: (error?: Error | null) => void) => void): Promise<void> {
    try {
      await new Promise<void>((resolve, reject) => work((error) => (error ? reject(error) : resolve())))
    } catch (error) {
      failure ??= { error: error instanceof CsvError ? endless(line, error) : error }
    }
    if (window.lengthToEnd() > RECORD_END_WITHIN_BYTES + LOOKAHEAD_BYTES_MAX)
      failure ??= { error: endless(line) }
    if (failure !== undefined) throw failure.error
  }

  return {
    take(piece) {
      window.slide(piece)
      return run((done) => parser.write(piece, done))
    },
    end() {
      window.finish()
      return run((done) => parser.end(done))
    },
    get line() {
      return line
    },
  }
}

/** The bytes that are in no record yet, by which a record is judged that may be at fault. */
function createWindow() {
  let bytes: Buffer = Buffer.alloc(0)
  /** Where in the text they begin, and where the next record does. */
  let start = 0
  let recordStart = 0
  /** Whether some record that ends here may not be UTF-8. */
  let isSuspect = false

  const isLineEnd = (at: number) => bytes[at] === LINE_FEED || bytes[at] === CARRIAGE_RETURN

  /** How many bytes of line ending there are before `end`. */
  function lineEndBytes(end: number): number {
    if (!isLineEnd(end - 1)) return 0
    return bytes[end - 1] === LINE_FEED && bytes[end - 2] === CARRIAGE_RETURN ? 2 : 1
  }

  return {
    /** Moves on over the records that were judged, to the end of `piece`. */
    slide(piece: Buffer): void {
      const rest = bytes.subarray(Math.max(recordStart - start, 0))
      const pieceStart = start + bytes.length
      // A record that is too long already is refused whatever is in it.
      const isKept = rest.length <= RECORD_BYTES_MAX + LOOKAHEAD_BYTES_MAX
      bytes = isKept ? Buffer.concat([rest, piece]) : piece
      start = isKept ? pieceStart - rest.length : pieceStart
      const end = Math.max(bytes.lastIndexOf(LINE_FEED), bytes.lastIndexOf(CARRIAGE_RETURN)) + 1
      isSuspect = !isUtf8(bytes.subarray(0, end))
    },
    /** No more comes: the last record ends here, with or without a line ending. */
    finish(): void {
      isSuspect = !isUtf8(bytes)
    },
    /** How many bytes the next record has that ends at `end`. */
    lengthTo(end: number): number {
      return end - recordStart
    },
    /** Whether the next record is nothing but a line ending, where it has one empty cell. */
    beginsWithLineEnd(): boolean {
      return isLineEnd(recordStart - start)
    },
    /** How many bytes there are behind the records that were judged. */
    lengthToEnd(): number {
      return start + bytes.length - recordStart
    },
    /** Judges the next record, which ends at `end`. */
    faultOf(cells: readonly string[], end: number): AppError | undefined {
      const from = recordStart
      recordStart = end
      if (end - from > RECORD_BYTES_MAX && end - from - lineEndBytes(end - start) > RECORD_BYTES_MAX) {
        return new AppError(41301, `The row is longer than ${RECORD_BYTES_MAX} bytes.`)
      }
      const isOddlyQuoted = cells.some((cell) => cell.charCodeAt(0) === QUOTATION_MARK)
      return isSuspect || isOddlyQuoted ? faultIn(bytes.subarray(from - start, end - start)) : undefined
    },
  }
}

function faultIn(record: Buffer): AppError | undefined {
  if (!isUtf8(record)) {
    return new AppError(
      40002,
      'The row is not valid UTF-8. Name its encoding in the parameter encoding, such as windows-1252.',
      { details: { fields: [{ name: '', rule: 'utf-8' }] } },
    )
  }
  if (WELL_QUOTED.test(record.toString('latin1'))) return undefined
  return new AppError(
    40002,
    'The row is not CSV. A cell that begins with a quotation mark must end with one, and those within are doubled.',
    { details: { fields: [{ name: '', rule: 'well-formed' }] } },
  )
}

function lineEndingsIn(cells: readonly string[]): number {
  let count = 0
  for (const cell of cells) count += cell.match(/\r\n|\n|\r/g)?.length ?? 0
  return count
}

function endless(line: number, cause?: CsvError): AppError {
  const message =
    cause?.code === 'CSV_QUOTE_NOT_CLOSED'
      ? 'The row has a quotation mark that is never closed.'
      : 'The row has no end within a mebibyte. A quotation mark in it may never be closed.'
  return new AppError(40002, message, {
    cause,
    details: { fields: [{ name: '', rule: 'well-formed', line }] },
  })
}
