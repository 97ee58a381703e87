import { createRowScanner, type RowExtent } from './row-scanner.ts'
import {
  CARRIAGE_RETURN,
  type Delimiter,
  LINE_FEED,
  QUOTATION_MARK,
  ROW_BYTES_MAX,
  ROW_END_WITHIN_BYTES,
} from './table-dialect.ts'

/** What is wrong with a row as text. */
export type RowFault = 'tooLong' | 'notUtf8' | 'misquoted'

export interface TableRow {
  /** None where the row is blank or too long. Where it has another fault they may differ from what was meant. */
  cells: readonly string[]
  line: number
  fault: RowFault | undefined
}

/** Reads the rows of a table in UTF-8. */
export interface RowReader {
  /** Calls back for each row that ends in the chunk. Throws a RowEndError, or what the callback threw. */
  read(chunk: Uint8Array): void
  /** The same when no more chunks come. */
  end(): void
  /** The line on which the next row begins. */
  readonly line: number
}

/** The longest line ending, CRLF. */
const LINE_ENDING_BYTES = 2

const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const lenientDecoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Reads with memory for one row of ROW_BYTES_MAX and one chunk. */
export function createRowReader(onRow: (row: TableRow) => void, delimiter: Delimiter = ','): RowReader {
  let ended: RowExtent[] = []
  const window = createWindow()
  const scanner = createRowScanner({
    format: 'csv',
    delimiter,
    endWithinBytes: ROW_END_WITHIN_BYTES,
    onRow: (row) => ended.push(row),
  })

  function readEnded(): void {
    let rows = ended
    ended = []
    const [first] = rows
    // Its beginning was dropped.
    if (first !== undefined && first.start < window.start) {
      onRow({ cells: [], line: first.line, fault: 'tooLong' })
      rows = rows.slice(1)
    }
    const [start, end] = [rows[0]?.start, rows.at(-1)?.end]
    if (start === undefined || end === undefined) return
    const block = window.bytes(start, end)
    // All at once: row by row takes several times as long.
    const text = decodeStrictly(block)
    const isAscii = text?.length === block.length
    let at = 0
    for (const row of rows) {
      if (text === undefined) {
        const bytes = window.bytes(row.start, row.end)
        const rowText = decodeStrictly(bytes)
        onRow(tableRow(row, rowText ?? lenientDecoder.decode(bytes), delimiter, rowText !== undefined))
      } else {
        const length = isAscii ? row.end - row.start : utf16Length(window.bytes(row.start, row.end))
        onRow(tableRow(row, text.slice(at, at + length), delimiter, true))
        at += length
      }
    }
  }

  function run(scan: () => void): void {
    try {
      scan()
    } finally {
      // The rows before one without an end come first.
      readEnded()
      window.moveTo(scanner.start)
    }
  }

  return {
    read(chunk) {
      window.append(chunk)
      run(() => scanner.scan(chunk))
    },
    end: () => run(scanner.end),
    get line() {
      return scanner.line
    },
  }
}

/** The bytes of a text that are still needed. Offsets are those of the whole text. */
function createWindow() {
  let buffer = new Uint8Array()
  let start = 0
  let length = 0
  return {
    append(chunk: Uint8Array): void {
      // A row that is too long already fails, whatever is in it.
      if (length > ROW_BYTES_MAX + LINE_ENDING_BYTES) {
        start += length
        length = 0
      }
      if (length + chunk.length > buffer.length) {
        // Twice as much: small chunks of a long row are not to be copied again and again.
        const larger = new Uint8Array(Math.max(length + chunk.length, 2 * length))
        larger.set(buffer.subarray(0, length))
        buffer = larger
      }
      buffer.set(chunk, length)
      length += chunk.length
    },
    /** Drops the bytes before `offset`. */
    moveTo(offset: number): void {
      if (offset <= start) return
      buffer.copyWithin(0, offset - start, length)
      length -= offset - start
      start = offset
    },
    bytes: (from: number, to: number) => buffer.subarray(from - start, to - start),
    get start() {
      return start
    },
  }
}

function decodeStrictly(bytes: Uint8Array): string | undefined {
  try {
    return strictDecoder.decode(bytes)
  } catch {
    return undefined
  }
}

function tableRow(extent: RowExtent, text: string, delimiter: Delimiter, isUtf8: boolean): TableRow {
  const { line, start, end, hasQuotedCells, isMisquoted } = extent
  const content = withoutLineEnding(text)
  const isTooLong = end - start - (text.length - content.length) > ROW_BYTES_MAX
  if (isTooLong) return { cells: [], line, fault: 'tooLong' }
  if (content === '') return { cells: [], line, fault: undefined }
  const cells = hasQuotedCells ? quotedCells(content, delimiter) : content.split(delimiter)
  const fault = isMisquoted ? 'misquoted' : undefined
  return { cells, line, fault: isUtf8 ? fault : 'notUtf8' }
}

function withoutLineEnding(row: string): string {
  let end = row.length
  if (row.charCodeAt(end - 1) === LINE_FEED) end--
  if (row.charCodeAt(end - 1) === CARRIAGE_RETURN) end--
  return row.slice(0, end)
}

/**
 * How many characters of a string are in valid UTF-8: one for each that begins there, and two for those of four bytes.
 */
function utf16Length(bytes: Uint8Array): number {
  let length = bytes.length
  for (const byte of bytes) {
    if (byte >= 0x80) length -= byte < 0xc0 ? 1 : byte < 0xf0 ? 0 : -1
  }
  return length
}

/**
 * The cells of a row of which some are quoted. A cell that something follows after its quotation mark stays as it is.
 */
function quotedCells(row: string, delimiter: Delimiter): string[] {
  const cells: string[] = []
  for (let at = 0; at <= row.length; ) {
    const isQuoted = row.charCodeAt(at) === QUOTATION_MARK
    const close = isQuoted ? closingMark(row, at) : at
    const found = row.indexOf(delimiter, close)
    const end = found < 0 ? row.length : found
    const isWell = isQuoted && close + 1 === end
    cells.push(isWell ? row.slice(at + 1, close).replaceAll('""', '"') : row.slice(at, end))
    at = end + 1
  }
  return cells
}

/** The quotation mark that closes the cell begun at `start`. */
function closingMark(row: string, start: number): number {
  let at = row.indexOf('"', start + 1)
  while (row.charCodeAt(at + 1) === QUOTATION_MARK) at = row.indexOf('"', at + 2)
  return at
}
