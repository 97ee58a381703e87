import { CARRIAGE_RETURN, type Delimiter, LINE_FEED, QUOTATION_MARK } from './table-dialect.ts'

/** The extent of a row in a text. Offsets are in bytes from the beginning of the text. */
export interface RowExtent {
  start: number
  /** After its line ending. */
  end: number
  /** The line on which it begins, from 1. */
  line: number
  hasQuotedCells: boolean
  /** Whether a cell has text after its closing quotation mark. */
  isMisquoted: boolean
}

/** A row without an end: the text ends inside a quoted cell, or the row is longer than the limit. */
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
  /** In NDJSON each line is a row and ends with LF. Quotation marks and carriage returns have no meaning. */
  format: 'csv' | 'ndjson'
  delimiter?: Delimiter
  /** The maximum length of a row; absent for no limit. */
  endWithinBytes?: number
  onRow(row: RowExtent): void
}

/** Finds the rows of a text that arrives in chunks, without storing the text. */
export interface RowScanner {
  /** Calls `onRow` for each row that ends in the chunk. After a RowEndError the scanner cannot continue. */
  scan(chunk: Uint8Array): void
  /** The same for the end of the text. */
  end(): void
  /** The line on which the next row begins. */
  readonly line: number
  /** The offset at which the next row begins. */
  readonly start: number
}

// Kinds of bytes, then states: what the previous bytes were.
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
 * Scans a text in any superset of ASCII. A table follows RFC 4180 and spreadsheets: rows end with LF, CRLF or CR. A
 * cell that begins with a quotation mark is quoted; in other cells a quotation mark is an ordinary character.
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
  /** Whether the text so far ends with a carriage return, which a line feed may follow. */
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
