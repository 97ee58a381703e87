import {
  createRowScanner,
  RowEndError,
  type RowExtent,
  type RowScanner,
} from '../plants/import/row-scanner.ts'
import {
  isBlankRow,
  markBytes,
  ROW_END_WITHIN_BYTES,
  SIGNATURE_BYTES,
  UTF_8_MARK_BYTES,
} from '../plants/import/table-dialect.ts'

/** Consecutive whole rows of a file, after its header row if it has one. */
export interface ImportSlice {
  body: Uint8Array<ArrayBuffer>
  /** The number to add to the line numbers of the service. */
  linesBefore: number
  /** The line after the last row, from 1. */
  nextLine: number
  /** The lines of the rows that are not blank, without the header row. */
  rowLines(): number[]
}

export interface SliceOptions {
  format: 'csv' | 'ndjson'
  /** Whether the first row that is not blank is a header row. */
  hasHeader: boolean
}

/** A report lists at most 1,000 failed rows, so that a slice of this size has all of them. */
const SLICE_ROWS_MAX = 1_000
const SLICE_BYTES_MAX = 1024 * 1024
/** Bytes of a line of NDJSON that are sent. The service rejects a line over 64 KiB, however long it is. */
const LINE_BYTES_SENT = 128 * 1024
const LINE_FEED = 0x0a
const SPACE = 0x20

const NOTHING = new Uint8Array()
/** A blank line: the bytes after it are not mistaken for the beginning of a file. */
const BLANK_LINE = Uint8Array.of(LINE_FEED)

/** Splits a file into slices of whole rows. Has memory for one slice and one row. */
export class ImportSlicer {
  readonly #hasHeader: boolean
  readonly #scanner: RowScanner
  readonly #shorten: (chunk: Uint8Array) => Uint8Array
  /** Complete rows that are in no slice yet. Offsets do not count the byte order mark. */
  #rows: RowExtent[] = []
  #buffer: Uint8Array<ArrayBuffer> = NOTHING
  /** The offset in the text of the buffer. */
  #start = 0
  #hasBegun = false
  #isHeaderFound = false
  /** The first bytes of each slice, and their lines. */
  #prefix: Uint8Array = NOTHING
  #prefixLines = 0
  #slices = 0
  /** Whether a row without an end was found. There are no more slices. */
  isEndless = false

  constructor({ format, hasHeader }: SliceOptions) {
    const isTable = format === 'csv'
    this.#hasHeader = hasHeader
    this.#scanner = createRowScanner({
      format,
      ...(isTable && { endWithinBytes: ROW_END_WITHIN_BYTES }),
      onRow: (row) => this.#rows.push(row),
    })
    this.#shorten = isTable ? (chunk) => chunk : createLineShortener()
  }

  get hasRows(): boolean {
    return this.#rows.length > 0
  }

  /** The slices that are full with this chunk. */
  *take(chunk: Uint8Array): Generator<ImportSlice, void, undefined> {
    const bytes = this.#shorten(chunk)
    this.#buffer = joined(this.#buffer, bytes)
    let unscanned: Uint8Array = this.#buffer.subarray(this.#buffer.length - bytes.length)
    if (!this.#hasBegun) {
      if (this.#buffer.length < SIGNATURE_BYTES) return
      unscanned = this.#begin()
    }
    yield* this.#scan(() => this.#scanner.scan(unscanned))
  }

  /** A slice of the rows so far. */
  flush(): ImportSlice {
    return this.#slice(this.#rows.length, this.#rows.at(-1)?.end ?? this.#start)
  }

  /** The last slices. */
  *end(): Generator<ImportSlice, void, undefined> {
    yield* this.#scan(() => {
      if (!this.#hasBegun) this.#scanner.scan(this.#begin())
      this.#scanner.end()
    })
    const isNeeded = this.#slices === 0 || this.#buffer.some((byte) => byte > SPACE)
    if (!this.isEndless && isNeeded) yield this.flush()
  }

  /** Removes the byte order mark of UTF-8. That of UTF-16 stays: the service says what to do. */
  #begin(): Uint8Array {
    this.#hasBegun = true
    const mark = markBytes(this.#buffer)
    if (mark === UTF_8_MARK_BYTES) this.#buffer = this.#buffer.subarray(mark)
    return this.#buffer
  }

  /** For a row without an end, also slices what was read of it: the service says what is wrong. */
  *#scan(run: () => void): Generator<ImportSlice, void, undefined> {
    try {
      run()
    } catch (error) {
      if (!(error instanceof RowEndError)) throw error
      this.isEndless = true
    }
    yield* this.#fullSlices()
    if (!this.isEndless) return
    if (this.hasRows) yield this.flush()
    yield this.#slice(0, this.#start + this.#buffer.length)
  }

  *#fullSlices(): Generator<ImportSlice, void, undefined> {
    this.#takeHeader()
    for (;;) {
      const last = this.#rows.findIndex(
        ({ end }, at) => at + 1 === SLICE_ROWS_MAX || end - this.#start >= SLICE_BYTES_MAX,
      )
      const row = this.#rows[last]
      if (row === undefined) return
      yield this.#slice(last + 1, row.end)
    }
  }

  #takeHeader(): void {
    while (this.#hasHeader && !this.#isHeaderFound) {
      const row = this.#rows.shift()
      if (row === undefined) return
      this.#prefix = this.#takeBytes(row.end).slice()
      this.#isHeaderFound = !isBlankRow(this.#prefix)
      this.#prefixLines = this.#nextLine() - row.line
    }
  }

  /** A slice of the next rows, which end at `end`. */
  #slice(count: number, end: number): ImportSlice {
    const rows = this.#rows
    const taken = rows.slice(0, count)
    const start = this.#start
    const line = this.#nextLine()
    this.#rows = rows.slice(count)
    const bytes = this.#takeBytes(end)
    if (this.#slices++ > 0 && this.#prefixLines === 0) {
      this.#prefix = BLANK_LINE
      this.#prefixLines = 1
    }
    const isBlank = (row: RowExtent) => isBlankRow(bytes.subarray(row.start - start, row.end - start))
    return {
      body: joined(this.#prefix, bytes),
      linesBefore: line - 1 - this.#prefixLines,
      nextLine: this.#nextLine(),
      rowLines: () => taken.filter((row) => !isBlank(row)).map((row) => row.line),
    }
  }

  #nextLine(): number {
    return this.#rows[0]?.line ?? this.#scanner.line
  }

  /** Removes the bytes up to `end` from the buffer. */
  #takeBytes(end: number): Uint8Array {
    const bytes = this.#buffer.subarray(0, end - this.#start)
    this.#buffer = this.#buffer.subarray(bytes.length)
    this.#start = end
    return bytes
  }
}

/** Drops the end of lines that are too long in any case, so that memory is bounded. */
function createLineShortener() {
  let length = 0
  return (chunk: Uint8Array): Uint8Array => {
    if (length + chunk.length <= LINE_BYTES_SENT) {
      const last = chunk.lastIndexOf(LINE_FEED)
      length = last < 0 ? length + chunk.length : chunk.length - 1 - last
      return chunk
    }
    let kept: Uint8Array = NOTHING
    for (let at = 0; at < chunk.length; ) {
      const found = chunk.indexOf(LINE_FEED, at)
      const end = found < 0 ? chunk.length : found
      kept = joined(kept, chunk.subarray(at, Math.min(end, at + Math.max(0, LINE_BYTES_SENT - length))))
      length += end - at
      if (found < 0) break
      kept = joined(kept, BLANK_LINE)
      length = 0
      at = end + 1
    }
    return kept
  }
}

function joined(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(one.length + other.length)
  both.set(one)
  both.set(other, one.length)
  return both
}
