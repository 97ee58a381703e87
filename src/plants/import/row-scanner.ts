import {
  CARRIAGE_RETURN,
  type Delimiter,
  LINE_FEED,
  QUOTATION_MARK,
  ROW_BYTES_MAX,
  ROW_END_WITHIN_BYTES,
} from './table-dialect.ts'

/** Where a row is in a text. Bytes are counted from the beginning of the text. */
export interface RowExtent {
  start: number
  /** After its line ending. */
  end: number
  /** The line on which it begins, from 1. */
  line: number
  hasQuotedCells: boolean
  /** Whether something follows the closing quotation mark of a cell. */
  isMisquoted: boolean
}

/** A row without an end: its quotation mark is not closed when the text ends, or no end follows within the limit. */
export class RowEndError extends Error {
  override readonly name = 'RowEndError'
  /** The line on which the row begins. */
  readonly line: number
  readonly reason: 'quoteNotClosed' | 'tooFar'

  constructor(line: number, reason: RowEndError['reason']) {
    super(`The row that begins on line ${line} has no end`)
    this.line = line
    this.reason = reason
  }
}

export interface RowScannerOptions {
  /** Of NDJSON each line is a row. It ends with LF; its quotation marks and carriage returns mean nothing here. */
  format: 'csv' | 'ndjson'
  delimiter?: Delimiter
  /** Absent where a row may have any length. */
  endWithinBytes?: number
  onRow(row: RowExtent): void
}

/** Finds the rows of a text that comes in chunks, and keeps none of it. */
export interface RowScanner {
  /** Calls `onRow` for each row that ends in the chunk. Throws a RowEndError, after which the scanner is of no use. */
  scan(chunk: Uint8Array): void
  /** The same when no more chunks come. */
  end(): void
  /** The line on which the next row begins. */
  readonly line: number
  /** Where the next row begins. */
  readonly start: number
}

// What a byte means, and what precedes it.
const ORDINARY = 0
const DELIMITER = 1
const QUOTE = 2
const RETURN = 3
const FEED = 4

const CELL_START = 0
const PLAIN = 1
const QUOTED = 2
/** After a quotation mark in a quoted cell, which closes the cell unless another one follows. */
const CLOSED = 3

/**
 * Scans a text in any encoding in which bytes of ASCII always mean ASCII. A table is as RFC 4180 has it, and as
 * spreadsheets write it: rows end with LF, CRLF or CR; a cell is quoted if it begins with a quotation mark, and one
 * inside of another cell is like any other character.
 */
export function createRowScanner(options: RowScannerOptions): RowScanner {
  const { format, delimiter = ',', endWithinBytes = Number.POSITIVE_INFINITY, onRow } = options
  const kinds = new Uint8Array(256)
  kinds[LINE_FEED] = FEED
  if (format === 'csv') {
    kinds[CARRIAGE_RETURN] = RETURN
    kinds[QUOTATION_MARK] = QUOTE
    kinds[delimiter.charCodeAt(0)] = DELIMITER
  }
  let state = CELL_START
  let line = 1
  let offset = 0
  let start = 0
  let startLine = 1
  let hasQuotedCells = false
  let isMisquoted = false
  /** Whether the text so far ends with a carriage return, of whose line ending a line feed may be the rest. */
  let isInLineEnding = false

  function checkLength(end: number): void {
    if (end - start > endWithinBytes) throw new RowEndError(startLine, 'tooFar')
  }

  function endLine(end: number): void {
    line++
    if (state === QUOTED) return
    checkLength(end)
    const row = { start, end, line: startLine, hasQuotedCells, isMisquoted }
    start = end
    startLine = line
    state = CELL_START
    hasQuotedCells = false
    isMisquoted = false
    onRow(row)
  }

  return {
    scan(chunk) {
      const { length } = chunk
      if (length === 0) return
      const before = offset
      offset += length
      let at = 0
      if (isInLineEnding) {
        if (chunk[0] === LINE_FEED) at = 1
        isInLineEnding = false
        endLine(before + at)
      }
      for (; at < length; at++) {
        const kind = kinds[chunk[at] as number]
        if (kind === ORDINARY) {
          if (state === CLOSED) isMisquoted = true
          if (state !== QUOTED) state = PLAIN
          while (at + 1 < length && kinds[chunk[at + 1] as number] === ORDINARY) at++
        } else if (kind === DELIMITER) {
          if (state !== QUOTED) state = CELL_START
        } else if (kind === QUOTE) {
          if (state === CELL_START) hasQuotedCells = true
          if (state !== PLAIN) state = state === QUOTED ? CLOSED : QUOTED
        } else if (kind === RETURN && at + 1 === length) {
          isInLineEnding = true
        } else {
          if (kind === RETURN && chunk[at + 1] === LINE_FEED) at++
          endLine(before + at + 1)
        }
      }
      checkLength(offset)
    },
    end() {
      if (isInLineEnding) endLine(offset)
      isInLineEnding = false
      if (offset === start) return
      if (state === QUOTED) throw new RowEndError(startLine, 'quoteNotClosed')
      endLine(offset)
    },
    get line() {
      return startLine
    },
    get start() {
      return start
    },
  }
}

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

/** A line ending at most. */
const LINE_ENDING_BYTES = 2

const STRICT = { fatal: true, ignoreBOM: true }
const LENIENT = { ignoreBOM: true }

/** Reads with memory for one row of ROW_BYTES_MAX and one chunk. */
export function createRowReader(onRow: (row: TableRow) => void, delimiter: Delimiter = ','): RowReader {
  const strict = new TextDecoder('utf-8', STRICT)
  const lenient = new TextDecoder('utf-8', LENIENT)
  let ended: RowExtent[] = []
  const scanner = createRowScanner({
    format: 'csv',
    delimiter,
    endWithinBytes: ROW_END_WITHIN_BYTES,
    onRow: (row) => ended.push(row),
  })
  /** The text from `windowStart` on, in the first `windowBytes` of the buffer. */
  let buffer = new Uint8Array()
  let windowStart = 0
  let windowBytes = 0

  function append(chunk: Uint8Array): void {
    // A row that is too long already fails, whatever is in it.
    if (windowBytes > ROW_BYTES_MAX + LINE_ENDING_BYTES) {
      windowStart += windowBytes
      windowBytes = 0
    }
    const bytes = windowBytes + chunk.length
    if (bytes > buffer.length) {
      const larger = new Uint8Array(Math.max(bytes, 2 * windowBytes))
      larger.set(buffer.subarray(0, windowBytes))
      buffer = larger
    }
    buffer.set(chunk, windowBytes)
    windowBytes = bytes
  }

  /** Drops the rows that were read. */
  function slide(): void {
    const from = Math.max(scanner.start - windowStart, 0)
    buffer.copyWithin(0, from, windowBytes)
    windowStart += from
    windowBytes -= from
  }

  function readEnded(): void {
    const rows = ended
    ended = []
    // Only the first may have begun before the window.
    const whole = rows[0] !== undefined && rows[0].start < windowStart ? rows.slice(1) : rows
    if (whole.length < rows.length) onRow({ cells: [], line: rows[0]?.line ?? 0, fault: 'tooLong' })
    if (whole.length === 0) return
    let from = (whole[0]?.start ?? 0) - windowStart
    const block = buffer.subarray(from, (whole.at(-1)?.end ?? 0) - windowStart)
    // All at once: row by row takes several times as long.
    const text = decodeStrictly(block)
    const isAscii = text?.length === block.length
    let at = 0
    for (const row of whole) {
      const to = from + row.end - row.start
      if (text === undefined) {
        const bytes = buffer.subarray(from, to)
        const rowText = decodeStrictly(bytes)
        onRow(tableRow(row, rowText ?? lenient.decode(bytes), rowText !== undefined))
      } else {
        const end = at + (isAscii ? to - from : utf16Length(buffer.subarray(from, to)))
        onRow(tableRow(row, text.slice(at, end), true))
        at = end
      }
      from = to
    }
  }

  function decodeStrictly(bytes: Uint8Array): string | undefined {
    try {
      return strict.decode(bytes)
    } catch {
      return undefined
    }
  }

  function tableRow(row: RowExtent, text: string, isUtf8: boolean): TableRow {
    const { line, start, end, hasQuotedCells, isMisquoted } = row
    const content = withoutLineEnding(text)
    if (end - start - (text.length - content.length) > ROW_BYTES_MAX) {
      return { cells: [], line, fault: 'tooLong' }
    }
    if (content === '') return { cells: [], line, fault: undefined }
    const cells = hasQuotedCells ? quotedCells(content, delimiter) : content.split(delimiter)
    return { cells, line, fault: isUtf8 ? (isMisquoted ? 'misquoted' : undefined) : 'notUtf8' }
  }

  function run(scan: () => void): void {
    try {
      scan()
    } finally {
      // Rows that ended before what is wrong are told first.
      readEnded()
      slide()
    }
  }

  return {
    read(chunk) {
      append(chunk)
      run(() => scanner.scan(chunk))
    },
    end: () => run(scanner.end),
    get line() {
      return scanner.line
    },
  }
}

function withoutLineEnding(row: string): string {
  let end = row.length
  if (row.charCodeAt(end - 1) === LINE_FEED) end--
  if (row.charCodeAt(end - 1) === CARRIAGE_RETURN) end--
  return row.slice(0, end)
}

/** How many characters of a string are in valid UTF-8: one for each that begins there, and two for those of four bytes. */
function utf16Length(bytes: Uint8Array): number {
  let length = bytes.length
  for (const byte of bytes) {
    if (byte >= 0x80) length -= byte < 0xc0 ? 1 : byte < 0xf0 ? 0 : -1
  }
  return length
}

/** The cells of a row of which some are quoted. A cell that something follows after its quotation mark stays as it is. */
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
