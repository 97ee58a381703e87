import { createRowScanner, type RowExtent } from './row-scanner.ts'
import {
  CARRIAGE_RETURN,
  type Delimiter,
  LINE_FEED,
  QUOTATION_MARK,
  ROW_BYTES_MAX,
  ROW_END_WITHIN_BYTES,
} from './table-dialect.ts'

/** Why a row is not valid text. */
export type RowFault = 'tooLong' | 'notUtf8' | 'misquoted'

export interface TableRow {
  /** Empty for a blank row, also one of only delimiters, and for a too long one. May be wrong with another fault. */
  cells: readonly string[]
  line: number
  fault: RowFault | undefined
}

/** Reads the rows of a table in UTF-8. */
export interface RowReader {
  /** Calls `onRow` for each row that ends in the chunk. Throws a RowEndError, or the error of the callback. */
  read(chunk: Uint8Array): void
  /** The same for the end of the table. */
  end(): void
  /** The line on which the next row begins. */
  readonly line: number
}

/** The longest line ending, CRLF. */
const LINE_ENDING_BYTES = 2

const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const lenientDecoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Takes memory for one row of ROW_BYTES_MAX and one chunk. */
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
    // The window no longer has its beginning.
    if (first !== undefined && first.start < window.start) {
      onRow({ cells: [], line: first.line, fault: 'tooLong' })
      rows = rows.slice(1)
    }
    const [start, end] = [rows[0]?.start, rows.at(-1)?.end]
    if (start === undefined || end === undefined) return
    const block = window.bytes(start, end)
    // Decodes all rows at once: one by one takes several times as long.
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
      // Reports the rows before one without an end first.
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

/** A window over the bytes of a text that are still needed. Offsets count from the start of the text. */
function createWindow() {
  let buffer = new Uint8Array()
  let start = 0
  let length = 0
  return {
    append(chunk: Uint8Array): void {
      // A row that is already too long fails in any case.
      if (length > ROW_BYTES_MAX + LINE_ENDING_BYTES) {
        start += length
        length = 0
      }
      if (length + chunk.length > buffer.length) {
        // Doubles, so that a long row in small chunks is not copied for each chunk.
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
  if (hasOnly(content, delimiter)) return { cells: [], line, fault: undefined }
  const cells = hasQuotedCells ? quotedCells(content, delimiter) : content.split(delimiter)
  const fault = isMisquoted ? 'misquoted' : undefined
  return { cells, line, fault: isUtf8 ? fault : 'notUtf8' }
}

/** Whether a text has no characters but delimiters. */
function hasOnly(text: string, delimiter: Delimiter): boolean {
  let at = 0
  while (text[at] === delimiter) at++
  return at === text.length
}

function withoutLineEnding(row: string): string {
  let end = row.length
  if (row.charCodeAt(end - 1) === LINE_FEED) end--
  if (row.charCodeAt(end - 1) === CARRIAGE_RETURN) end--
  return row.slice(0, end)
}

/**
 * The length of valid UTF-8 as a string: one for each character, two for one of four bytes.
 */
function utf16Length(bytes: Uint8Array): number {
  let length = bytes.length
  for (const byte of bytes) {
    if (byte >= 0x80) length -= byte < 0xc0 ? 1 : byte < 0xf0 ? 0 : -1
  }
  return length
}

/**
 * The cells of a row with quoted cells. A cell with text after its closing quotation mark stays unchanged.
 */
function quotedCells(row: string, delimiter: Delimiter): string[] {
  const cells: string[] = []
  for (let at = 0; at <= row.length; ) {
    const isQuoted = row.charCodeAt(at) === QUOTATION_MARK
    const close = isQuoted ? closingMark(row, at) : at
    const found = row.indexOf(delimiter, close)
    const end = found < 0 ? row.length : found
    const isWellQuoted = isQuoted && close + 1 === end
    cells.push(isWellQuoted ? row.slice(at + 1, close).replaceAll('""', '"') : row.slice(at, end))
    at = end + 1
  }
  return cells
}

/** The closing quotation mark of the cell that begins at `start`. */
function closingMark(row: string, start: number): number {
  let at = row.indexOf('"', start + 1)
  while (row.charCodeAt(at + 1) === QUOTATION_MARK) at = row.indexOf('"', at + 2)
  return at
}
