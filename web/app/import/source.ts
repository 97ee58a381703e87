import { type FileFormat, PLANT_MEMBERS } from '../../../src/client/plant-store-client.ts'
import {
  type Delimiter,
  type Encoding,
  guessEncoding,
  isGzip,
  isWide,
} from '../../../src/plants/import/table-dialect.ts'
import { firstTableRows, guessDelimiter } from '../../../src/plants/import/table-guess.ts'
import { converterStream, createArrayConverter, createTableConverter } from './converted-text.ts'
import { importTexts } from './texts.ts'

/** A chosen file, and what its beginning reveals. */
export interface ImportSource {
  file: File
  format: FileFormat
  isGzip: boolean
  /** The most likely one; a comma if the file is no table. */
  delimiter: Delimiter
  /** Whether the text is one JSON array of plants. */
  isArray: boolean
  /** The most likely one. */
  encoding: Encoding
  /** The beginning of the text, decompressed. */
  head: Uint8Array<ArrayBuffer>
  /** Whether `head` is the whole text. */
  isHeadWhole: boolean
}

/** How the text of a file is read. */
export interface Reading {
  encoding: Encoding
  /** What separates the cells of a table. */
  delimiter: Delimiter
}

/** Enough to detect the encoding. */
const HEAD_BYTES = 512 * 1024
/** Browsers read megabytes at once, which would be too coarse for the progress of a compressed file. */
const CHUNK_BYTES = 64 * 1024
/** More rows would push the settings off the screen. */
export const PREVIEW_ROWS = 5

const TABLE_ENDINGS = ['csv', 'tsv']

/** Throws an Error with a message for people if the file cannot contain plants. */
export async function openSource(file: File): Promise<ImportSource> {
  const start = new Uint8Array(await file.slice(0, 2).arrayBuffer())
  const isCompressed = isGzip(start)
  const { head, isHeadWhole } = await readHead(file, isCompressed)
  const encoding = guessEncoding(head, isHeadWhole)
  const text = decode(head, encoding, isHeadWhole)
  if (text.includes('\0')) throw new Error(importTexts.notText)
  if (text.trim() === '') throw new Error(importTexts.empty)
  const ending = /\.(csv|tsv|ndjson|jsonl|json)(?:\.gz)?$/i.exec(file.name)?.[1]?.toLowerCase()
  const isArray = /^\s*\[\s*[[{\]]/.test(text)
  const looksLikeJson = isArray || /^\s*\{/.test(text)
  const format = looksLikeJson || (ending !== undefined && !TABLE_ENDINGS.includes(ending)) ? 'ndjson' : 'csv'
  const delimiter = format === 'csv' ? guessDelimiter(text, isHeadWhole) : ','
  return { file, format, isGzip: isCompressed, delimiter, isArray, encoding, head, isHeadWhole }
}

async function readHead(file: File, isCompressed: boolean) {
  if (!isCompressed) {
    const head = new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer())
    return { head, isHeadWhole: head.length === file.size }
  }
  const reader = decompressed(file.stream()).getReader()
  let head = new Uint8Array()
  try {
    while (head.length < HEAD_BYTES) {
      const { done, value } = await reader.read()
      if (done) return { head, isHeadWhole: true }
      head = joined(head, value)
    }
  } catch {
    throw new Error(importTexts.badGzip)
  }
  reader.cancel().catch(() => undefined)
  return { head, isHeadWhole: false }
}

function decode(head: Uint8Array, encoding: Encoding, isWhole: boolean): string {
  return new TextDecoder(encoding).decode(head, { stream: !isWhole })
}

/** The cells of the first rows. CSV: all cells, with the header row. NDJSON: the id and the content of each plant. */
export function previewRows(
  source: ImportSource,
  { encoding, delimiter }: Reading,
  rowsMax = PREVIEW_ROWS + 1,
): string[][] {
  const text = decode(source.head, encoding, source.isHeadWhole)
  const { format, isHeadWhole, isArray } = source
  if (format === 'csv') return firstTableRows(text, isHeadWhole, rowsMax, delimiter)
  const bytes = new TextEncoder().encode(text)
  const lines = (isArray ? new TextDecoder().decode(createArrayConverter().convert(bytes)) : text).split('\n')
  if (!isHeadWhole) lines.pop()
  return lines
    .filter((line) => line.trim() !== '')
    .slice(0, rowsMax)
    .map(plantCells)
}

function plantCells(line: string): string[] {
  try {
    // The source text of numbers: ids exceed the precision of a JavaScript number.
    const exact = (_key: string, value: unknown, context?: { source?: string }) =>
      typeof value === 'number' ? (context?.source ?? String(value)) : value
    const plant = JSON.parse(line, exact) as Record<string, unknown>
    return ['id', ...PLANT_MEMBERS].map((name) => (plant[name] === undefined ? '' : String(plant[name])))
  } catch {
    return [line]
  }
}

/** Whether the text is converted before it is sent: to UTF-8, with commas, or with a line for each plant. */
export function isConverted({ isArray }: ImportSource, { encoding, delimiter }: Reading): boolean {
  return isWide(encoding) || isArray || delimiter !== ','
}

/** The text in chunks, decompressed and converted. Calls `onBytes` with the bytes of the file read. */
export function readSource(
  source: ImportSource,
  reading: Reading,
  onBytes: (bytes: number) => void,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const { file, isGzip, isArray } = source
  const { encoding, delimiter } = reading
  let bytes = 0
  const counted = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        const chunk = new Uint8Array(await file.slice(bytes, bytes + CHUNK_BYTES).arrayBuffer())
        if (chunk.length === 0) return controller.close()
        bytes += chunk.length
        onBytes(bytes)
        controller.enqueue(chunk)
      },
    },
    { highWaterMark: 0 },
  )
  const text = isGzip ? decompressed(counted) : counted
  if (!isConverted(source, reading)) return text
  // Bytes that are not UTF-8 stay: the service reports their rows.
  const unicode =
    encoding === 'utf-8'
      ? text
      : (text
          .pipeThrough(new TextDecoderStream(encoding))
          .pipeThrough(new TextEncoderStream()) as ReadableStream<Uint8Array<ArrayBuffer>>)
  if (isArray) return unicode.pipeThrough(converterStream(createArrayConverter()))
  return delimiter === ',' ? unicode : unicode.pipeThrough(converterStream(createTableConverter(delimiter)))
}

function decompressed(stream: ReadableStream<Uint8Array<ArrayBuffer>>) {
  return stream.pipeThrough(new DecompressionStream('gzip')) as ReadableStream<Uint8Array<ArrayBuffer>>
}

export function joined(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(one.length + other.length)
  both.set(one)
  both.set(other, one.length)
  return both
}
