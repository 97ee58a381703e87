import type { FileFormat } from '../../../src/client/plant-store-client.ts'
import { joined } from './import-source.ts'
import { importTexts } from './import-texts.ts'

/** Some whole rows of a file, byte for byte. */
export interface RowSlice {
  bytes: Uint8Array<ArrayBuffer>
  /** Where in the bytes each row begins. */
  starts: number[]
  /** The line of the file on which each row begins, from 1. */
  lines: number[]
  /** The line behind them. */
  nextLine: number
  /** How much of the text comes before their end. */
  endBytes: number
  /** How much of the text had been read when they were cut off. */
  readBytes: number
}

/** What is before the rows. */
export interface RowsStart {
  /** The byte order mark, empty where there is none. */
  mark: Uint8Array<ArrayBuffer>
  /** The header row, likewise. */
  header: Uint8Array<ArrayBuffer>
  /** How long all of it is. */
  bytes: number
  lines: number
}

export interface RowSlicesOptions {
  format: FileFormat
  /** Whether the first row that is not blank is none of the slices. */
  hasHeader: boolean
  /** Called before the first slice. */
  onStart?: (start: RowsStart) => void
}

/** As many refused rows are listed in a report; of a larger slice it could not be told which they were. */
const SLICE_ROWS_MAX = 1_000
/** Long rows: so often, at least, progress is told. */
const SLICE_BYTES_MAX = 1024 * 1024
/**
 * A row that is longer than the service looks for the end of one: a quotation mark in it is never closed, or this is no
 * text. Of what the service itself says of it, the lines would be those of a slice.
 */
const CSV_ROW_BYTES_MAX = 1024 * 1024
/** The service refuses each line of more than 64 KiB, and reads on. What is far longer is no text. */
const LINE_BYTES_MAX = 4 * 1024 * 1024

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const QUOTATION_MARK = 0x22
const COMMA = 0x2c
const MARK = [0xef, 0xbb, 0xbf]
const NOTHING = new Uint8Array()

/**
 * Cuts a text between rows. Rows and lines are counted as the service counts them: of NDJSON each line is a row; CSV
 * ends lines with LF, CRLF or CR, and a row goes on over line endings within quotation marks. For a row without an end it
 * throws, behind the rows before it, an Error whose message is for people.
 */
export async function* sliceRows(
  chunks: ReadableStream<Uint8Array<ArrayBuffer>>,
  options: RowSlicesOptions,
): AsyncGenerator<RowSlice, void, undefined> {
  const cutter = createCutter(options)
  const reader = chunks.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      yield* cutter.take(value ?? NOTHING, done)
      if (done) return
    }
  } finally {
    reader.cancel().catch(() => undefined)
  }
}

function createCutter({ format, hasHeader, onStart = () => {} }: RowSlicesOptions) {
  const scanner = createRowScanner(format)
  const rowBytesMax = format === 'csv' ? CSV_ROW_BYTES_MAX : LINE_BYTES_MAX
  let buffer: Uint8Array<ArrayBuffer> = NOTHING
  let isFirst = true
  let mark: Uint8Array<ArrayBuffer> = NOTHING
  let bytesBefore = 0
  let readBytes = 0
  let isHeaderWanted = hasHeader
  let starts: number[] = []
  let lines: number[] = []
  let rowStart = 0
  let rowLine = 1

  function cut(): RowSlice {
    bytesBefore += rowStart
    const bytes = buffer.slice(0, rowStart)
    const slice = { bytes, starts, lines, nextLine: rowLine, endBytes: bytesBefore, readBytes }
    buffer = buffer.subarray(rowStart)
    scanner.moveBack(rowStart)
    starts = []
    lines = []
    rowStart = 0
    return slice
  }

  function begin(isLast: boolean): boolean {
    if (buffer.length < MARK.length && !isLast) return false
    if (MARK.every((byte, at) => buffer[at] === byte)) {
      mark = buffer.slice(0, MARK.length)
      buffer = buffer.subarray(MARK.length)
    }
    bytesBefore = mark.length
    if (!hasHeader) onStart({ mark, header: NOTHING, bytes: bytesBefore, lines: 0 })
    isFirst = false
    return true
  }

  function endHeader(end: number): void {
    const row = buffer.slice(0, end)
    isHeaderWanted = isBlankRow(row)
    bytesBefore += end
    buffer = buffer.subarray(end)
    scanner.moveBack(end)
    rowLine = scanner.line
    if (!isHeaderWanted) onStart({ mark, header: row, bytes: bytesBefore, lines: rowLine - 1 })
  }

  return {
    *take(chunk: Uint8Array, isLast: boolean): Generator<RowSlice, void, undefined> {
      buffer = joined(buffer, chunk)
      readBytes += chunk.length
      if (isFirst && !begin(isLast)) return
      let isEndless = false
      for (;;) {
        let end = scanner.rowEnd(buffer, isLast)
        if (end === undefined && isLast && rowStart < buffer.length && !scanner.isQuoted) end = buffer.length
        if ((end ?? buffer.length) - rowStart > rowBytesMax) isEndless = true
        if (end === undefined || isEndless) break
        if (isHeaderWanted) {
          endHeader(end)
          continue
        }
        starts.push(rowStart)
        lines.push(rowLine)
        rowStart = end
        rowLine = scanner.line
        if (starts.length === SLICE_ROWS_MAX || rowStart >= SLICE_BYTES_MAX) yield cut()
      }
      isEndless ||= isLast && rowStart < buffer.length
      if ((isLast || isEndless) && starts.length > 0) yield cut()
      if (isEndless) throw new Error(importTexts.endlessRow(rowLine))
    },
  }
}

/** Whether there is nothing in it but its line ending. Such a one is no row. */
export function isBlankRow(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === LINE_FEED || byte === CARRIAGE_RETURN)
}

/** Finds where rows end, wherever the text is cut into pieces. */
function createRowScanner(format: FileFormat) {
  let at = 0
  let line = 1
  let isQuoted = false
  let isCellStart = true

  function csvRowEnd(bytes: Uint8Array, isLast: boolean): number | undefined {
    for (; at < bytes.length; at++) {
      const byte = bytes[at]
      const isTelling = byte === CARRIAGE_RETURN || (byte === QUOTATION_MARK && isQuoted)
      // What it means hangs on the next one.
      if (isTelling && at + 1 === bytes.length && !isLast) return undefined
      if (byte === LINE_FEED || byte === CARRIAGE_RETURN) {
        if (byte === CARRIAGE_RETURN && bytes[at + 1] === LINE_FEED) at++
        line++
        if (isQuoted) continue
        isCellStart = true
        at++
        return at
      }
      if (byte === QUOTATION_MARK) {
        if (isQuoted && bytes[at + 1] === QUOTATION_MARK) at++
        else if (isQuoted) isQuoted = false
        else if (isCellStart) isQuoted = true
        isCellStart = false
      } else {
        isCellStart = byte === COMMA && !isQuoted
      }
    }
    return undefined
  }

  function ndjsonRowEnd(bytes: Uint8Array): number | undefined {
    const found = bytes.indexOf(LINE_FEED, at)
    at = found < 0 ? bytes.length : found + 1
    if (found >= 0) line++
    return found < 0 ? undefined : at
  }

  return {
    /** The end of the next row, behind its line ending; undefined where it is not there yet. */
    rowEnd: (bytes: Uint8Array, isLast: boolean) =>
      format === 'csv' ? csvRowEnd(bytes, isLast) : ndjsonRowEnd(bytes),
    /** So many bytes at the beginning are no longer there. */
    moveBack(bytes: number): void {
      at -= bytes
    },
    /** Whether a quotation mark is open where the text ends so far. */
    get isQuoted() {
      return isQuoted
    },
    /** The line behind the last row. */
    get line() {
      return line
    },
  }
}
