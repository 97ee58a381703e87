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
import { joined } from './source.ts'
import { importTexts } from './texts.ts'

/** Consecutive whole rows of a file, byte for byte. */
export interface RowSlice {
  bytes: Uint8Array<ArrayBuffer>
  /** The offset in `bytes` of each row. */
  starts: number[]
  /** The line of the file of each row, from 1. */
  lines: number[]
  /** The line after the last row. */
  nextLine: number
  /** The offset in the text of their end. */
  endBytes: number
  /** Bytes of the text read so far. */
  readBytes: number
}

/** The part of a text before the rows. */
export interface RowsStart {
  /** The byte order mark; empty if there is none. */
  mark: Uint8Array<ArrayBuffer>
  /** The header row; empty if there is none. */
  header: Uint8Array<ArrayBuffer>
  /** The length of mark and header. */
  bytes: number
  lines: number
}

export interface RowSlicesOptions {
  format: FileFormat
  /** Whether the first row that is not blank is a header row. */
  hasHeader: boolean
  /** Called before the first slice. */
  onStart?: (start: RowsStart) => void
}

/** A report lists at most 1,000 failed rows, so that a slice of this size has them all. */
const SLICE_ROWS_MAX = 1_000
/** With long rows, progress is shown at least this often. */
const SLICE_BYTES_MAX = 1024 * 1024
/** The service reports a line of more than 64 KiB as failed. A far longer line means that the file is not NDJSON. */
const LINE_END_WITHIN_BYTES = 4 * 1024 * 1024

const NOTHING = new Uint8Array()

/**
 * Splits a text into slices of whole rows. For a row without an end it throws an Error with a message for people, after
 * the rows before it: the service would report a line number within the slice.
 */
export async function* sliceRows(
  chunks: ReadableStream<Uint8Array<ArrayBuffer>>,
  options: RowSlicesOptions,
): AsyncGenerator<RowSlice, void, undefined> {
  const slicer = createSlicer(options)
  const reader = chunks.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      yield* slicer.take(value ?? NOTHING, done)
      if (done) return
    }
  } finally {
    reader.cancel().catch(() => undefined)
  }
}

function createSlicer({ format, hasHeader, onStart = () => {} }: RowSlicesOptions) {
  /** Complete rows that are in no slice yet. Their offsets do not count the byte order mark. */
  let rows: RowExtent[] = []
  const scanner = createRowScanner({
    format,
    endWithinBytes: format === 'csv' ? ROW_END_WITHIN_BYTES : LINE_END_WITHIN_BYTES,
    onRow: (row) => rows.push(row),
  })
  let buffer: Uint8Array<ArrayBuffer> = NOTHING
  /** The offset in the text of the buffer. */
  let start = 0
  let mark: Uint8Array<ArrayBuffer> | undefined
  let readBytes = 0
  let isHeaderNext = hasHeader

  /** Removes the bytes up to `end` from the buffer. */
  function takeBytes(end: number): Uint8Array<ArrayBuffer> {
    const bytes = buffer.slice(0, end - start)
    buffer = buffer.subarray(bytes.length)
    start = end
    return bytes
  }

  const endBytes = () => (mark?.length ?? 0) + start
  const nextLine = () => rows[0]?.line ?? scanner.line

  function takeSlice(count: number): RowSlice {
    const taken = rows.slice(0, count)
    rows = rows.slice(count)
    const starts = taken.map((row) => row.start - start)
    const lines = taken.map(({ line }) => line)
    const bytes = takeBytes(taken.at(-1)?.end ?? start)
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
        // Only the mark of UTF-8: UTF-16 was converted, and its mark removed.
        const bytes = markBytes(buffer)
        mark = buffer.slice(0, bytes === UTF_8_MARK_BYTES ? bytes : 0)
        buffer = buffer.subarray(mark.length)
        unscanned = buffer
        if (!hasHeader) onStart({ mark, header: NOTHING, bytes: mark.length, lines: 0 })
      }
      const endless = scanChunk(scanner, unscanned, isLast)
      takeHeader()
      for (let count = fullSlice(rows, start); count !== undefined; count = fullSlice(rows, start))
        yield takeSlice(count)
      if ((isLast || endless) && rows.length > 0) yield takeSlice(rows.length)
      if (endless) throw new Error(importTexts.endlessRow(endless.line))
    },
  }
}

/** The number of rows in a full slice from `start`; undefined if there are too few rows. */
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
