import { createRowReader, type TableRow } from './row-reader.ts'
import {
  cellText,
  type Delimiter,
  markBytes,
  ROW_BYTES_MAX,
  SIGNATURE_BYTES,
  UTF_8_MARK_BYTES,
} from './table-dialect.ts'

type Bytes = Uint8Array<ArrayBuffer>

const encoder = new TextEncoder()
/** No byte of UTF-8: the service reports its row as not UTF-8. */
const NOT_UTF_8 = 0xff

/** Converts a text that arrives in chunks. */
export interface Converter {
  convert(chunk: Uint8Array): Bytes
  end(): Bytes
}

/**
 * Converts a table in UTF-8 with another delimiter to CSV with commas, without its byte order mark. Rows keep their
 * lines, and wrong rows stay wrong. Throws a RowEndError.
 */
export function createTableConverter(delimiter: Delimiter): Converter {
  let line = 1
  let parts: (string | Uint8Array)[] = []
  /** The first bytes, until they are enough for a byte order mark; then undefined. */
  let start: Uint8Array | undefined = new Uint8Array()
  const reader = createRowReader((row) => {
    // Blank lines.
    parts.push('\n'.repeat(Math.max(0, row.line - line)))
    line = row.line
    const text = rowText(row)
    parts.push(text, ...(row.fault === 'notUtf8' ? [Uint8Array.of(NOT_UTF_8)] : []), '\n')
    line += 1 + (text.match(/\r\n|\r|\n/g)?.length ?? 0)
  }, delimiter)
  function read(chunk: Uint8Array, isLast: boolean): void {
    let bytes = chunk
    if (start !== undefined) {
      start = joined([start, chunk])
      if (start.length < SIGNATURE_BYTES && !isLast) return
      bytes = markBytes(start) === UTF_8_MARK_BYTES ? start.subarray(UTF_8_MARK_BYTES) : start
      start = undefined
    }
    reader.read(bytes)
    if (isLast) reader.end()
  }
  function converted(chunk: Uint8Array, isLast: boolean): Bytes {
    read(chunk, isLast)
    const bytes = joined(parts)
    parts = []
    return bytes
  }
  return {
    convert: (chunk) => converted(chunk, false),
    end: () => converted(new Uint8Array(), true),
  }
}

function rowText({ cells, fault }: TableRow): string {
  // The service rejects it for the same reason.
  if (fault === 'tooLong') return 'x'.repeat(ROW_BYTES_MAX + 1)
  // Quoting its cells would make it valid.
  if (fault === 'misquoted') return cells.join(',')
  return cells.map((cell) => (cell === '' ? '' : cellText(cell))).join(',')
}

function joined(parts: readonly (string | Uint8Array)[]): Bytes {
  const chunks = parts.map((part) => (typeof part === 'string' ? encoder.encode(part) : part))
  const all = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const chunk of chunks) {
    all.set(chunk, at)
    at += chunk.length
  }
  return all
}
