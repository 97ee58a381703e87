import type { FileFormat } from '../../../src/client/plant-store-client.ts'
import {
  createRowScanner,
  RowEndError,
  type RowExtent,
  type RowScanner,
} from '../../../src/plants/import/row-scanner.ts'
import {
  isBlankRow,
  markBytes,
  ROW_END_WITHIN_BYTES,
  SIGNATURE_BYTES,
  UTF_8_MARK_BYTES,
} from '../../../src/plants/import/table-dialect.ts'
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
/** The service rejects each line of NDJSON of more than 64 KiB, and reads on. A far longer one is no text. */
const LINE_END_WITHIN_BYTES = 4 * 1024 * 1024

const NOTHING = new Uint8Array()

/**
 * Cuts a text between rows. For a row without an end it throws, after the rows before it, an Error whose message is
 * for people: in a message of the service the lines would be those of a slice.
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
  /** The rows that have ended and are in no slice. Their offsets are without the byte order mark. */
  let rows: RowExtent[] = []
  const scanner = createRowScanner({
    format,
    endWithinBytes: format === 'csv' ? ROW_END_WITHIN_BYTES : LINE_END_WITHIN_BYTES,
    onRow: (row) => rows.push(row),
  })
  let buffer: Uint8Array<ArrayBuffer> = NOTHING
  /** Where in the text the buffer begins. */
  let start = 0
  let mark: Uint8Array<ArrayBuffer> | undefined
  let readBytes = 0
  let isHeaderNext = hasHeader

  /** The bytes up to `end`, which leave the buffer. */
  function takeBytes(end: number): Uint8Array<ArrayBuffer> {
    const bytes = buffer.slice(0, end - start)
    buffer = buffer.subarray(bytes.length)
    start = end
    return bytes
  }

  const endBytes = () => (mark?.length ?? 0) + start
  const nextLine = () => rows[0]?.line ?? scanner.line

  function cut(count: number): RowSlice {
    const cutRows = rows.slice(0, count)
    rows = rows.slice(count)
    const starts = cutRows.map((row) => row.start - start)
    const lines = cutRows.map(({ line }) => line)
    const bytes = takeBytes(cutRows.at(-1)?.end ?? start)
    return { bytes, starts, lines, nextLine: nextLine(), endBytes: endBytes(), readBytes }
  }

  function takeHeader(): void {
    while (isHeaderNext) {
      const row = rows.shift()
      if (row === undefined) return
      const header = takeBytes(row.end)
      isHeaderNext = isBlankRow(header)
      if (isHeaderNext) continue
      onStart({ mark: mark ?? NOTHING, header, bytes: endBytes(), lines: nextLine() - 1 })
    }
  }

  return {
    *take(chunk: Uint8Array, isLast: boolean): Generator<RowSlice, void, undefined> {
      buffer = joined(buffer, chunk)
      readBytes += chunk.length
      let unscanned = buffer.subarray(buffer.length - chunk.length)
      if (mark === undefined) {
        if (buffer.length < SIGNATURE_BYTES && !isLast) return
        // The mark of UTF-8: a text in UTF-16 is decoded, without its mark.
        const bytes = markBytes(buffer)
        mark = buffer.slice(0, bytes === UTF_8_MARK_BYTES ? bytes : 0)
        buffer = buffer.subarray(mark.length)
        unscanned = buffer
        if (!hasHeader) onStart({ mark, header: NOTHING, bytes: mark.length, lines: 0 })
      }
      const endless = scanChunk(scanner, unscanned, isLast)
      takeHeader()
      for (let count = fullSlice(rows, start); count !== undefined; count = fullSlice(rows, start))
        yield cut(count)
      if ((isLast || endless) && rows.length > 0) yield cut(rows.length)
      if (endless) throw new Error(importTexts.endlessRow(endless.line))
    },
  }
}

/** How many of the rows make a full slice that begins at `start`; undefined where they are too few. */
function fullSlice(rows: readonly RowExtent[], start: number): number | undefined {
  const last = rows.findIndex(({ end }, at) => at + 1 === SLICE_ROWS_MAX || end - start >= SLICE_BYTES_MAX)
  return last < 0 ? undefined : last + 1
}

/** Returns the error of a row without an end. */
function scanChunk(scanner: RowScanner, chunk: Uint8Array, isLast: boolean): RowEndError | undefined {
  try {
    scanner.scan(chunk)
    if (isLast) scanner.end()
    return undefined
  } catch (error) {
    if (error instanceof RowEndError) return error
    throw error
  }
}
