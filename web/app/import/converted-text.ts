import { createRowReader, type TableRow } from '../../../src/plants/import/row-reader.ts'
import { RowEndError } from '../../../src/plants/import/row-scanner.ts'
import { cellText, type Delimiter, ROW_BYTES_MAX } from '../../../src/plants/import/table-dialect.ts'
import { importTexts } from './texts.ts'

type Bytes = Uint8Array<ArrayBuffer>

const encoder = new TextEncoder()
/** No byte of UTF-8: the service reports its row as not UTF-8. */
const NOT_UTF_8 = 0xff

/** Converts a table with another delimiter to CSV with commas. Rows keep their lines, and wrong rows stay wrong. */
export function createTableConverter(delimiter: Delimiter) {
  let line = 1
  let parts: (string | Bytes)[] = []
  const reader = createRowReader((row) => {
    // Blank lines.
    parts.push('\n'.repeat(Math.max(0, row.line - line)))
    line = row.line
    const text = rowText(row)
    parts.push(text, ...(row.fault === 'notUtf8' ? [Uint8Array.of(NOT_UTF_8)] : []), '\n')
    line += 1 + (text.match(/\r\n|\r|\n/g)?.length ?? 0)
  }, delimiter)
  function converted(read: () => void): Bytes {
    try {
      read()
    } catch (error) {
      if (error instanceof RowEndError) throw new Error(importTexts.endlessRow(error.line))
      throw error
    }
    const bytes = joined(parts)
    parts = []
    return bytes
  }
  return { convert: (chunk: Bytes) => converted(() => reader.read(chunk)), end: () => converted(reader.end) }
}

function rowText({ cells, fault }: TableRow): string {
  // The service rejects it for the same reason.
  if (fault === 'tooLong') return 'x'.repeat(ROW_BYTES_MAX + 1)
  // Quoting its cells would make it valid.
  if (fault === 'misquoted') return cells.join(',')
  return cells.map((cell) => (cell === '' ? '' : cellText(cell))).join(',')
}

function joined(parts: readonly (string | Bytes)[]): Bytes {
  const chunks = parts.map((part) => (typeof part === 'string' ? encoder.encode(part) : part))
  const all = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const chunk of chunks) {
    all.set(chunk, at)
    at += chunk.length
  }
  return all
}

const codeOf = (character: string) => character.charCodeAt(0)
const [QUOTE, ESCAPE, COMMA, LINE_FEED, RETURN, SPACE] = ['"', '\\', ',', '\n', '\r', ' '].map(codeOf)
const OPENING = ['[', '{'].map(codeOf)
const CLOSING = [']', '}'].map(codeOf)

/** Converts a JSON array to NDJSON: a line for each element. Digits stay as written, so that ids are exact. */
export function createArrayConverter() {
  let depth = 0
  let isInText = false
  let isEscaped = false
  function convertByte(byte: number): number {
    if (isInText) {
      if (!isEscaped && byte === QUOTE) isInText = false
      isEscaped = !isEscaped && byte === ESCAPE
      return byte
    }
    if (byte === QUOTE) isInText = true
    const isOuter = (OPENING.includes(byte) && depth++ === 0) || (CLOSING.includes(byte) && --depth === 0)
    if (isOuter || byte === LINE_FEED || byte === RETURN) return SPACE as number
    return byte === COMMA && depth === 1 ? (LINE_FEED as number) : byte
  }
  return {
    convert: (chunk: Bytes): Bytes => chunk.map(convertByte) as Bytes,
    end: (): Bytes => encoder.encode('\n') as Bytes,
  }
}

/** A converter as a stream. */
export function converterStream({ convert, end }: { convert(chunk: Bytes): Bytes; end(): Bytes }) {
  return new TransformStream<Bytes, Bytes>({
    transform: (chunk, controller) => controller.enqueue(convert(chunk)),
    flush: (controller) => controller.enqueue(end()),
  })
}
