import { type FileFormat, PLANT_MEMBERS } from '../../../src/client/plant-store-client.ts'
import { readCells } from './csv-cells.ts'
import { importTexts } from './import-texts.ts'

/** Those that tables come in. The service knows more; nobody would find theirs in a list of all. */
export const ENCODINGS = [
  'utf-8',
  'windows-1252',
  'windows-1250',
  'windows-1251',
  'windows-1253',
  'windows-1254',
  'utf-16le',
  'utf-16be',
] as const
export type Encoding = (typeof ENCODINGS)[number]

/** A file that somebody has chosen, and what its beginning tells. */
export interface ImportSource {
  file: File
  format: FileFormat
  isGzip: boolean
  /** The likeliest. */
  encoding: Encoding
  /** The beginning of its text, decompressed. */
  head: Uint8Array<ArrayBuffer>
  /** Whether that is all of it. */
  isHeadWhole: boolean
}

/** Enough to find characters that tell the encoding in. */
const HEAD_BYTES = 512 * 1024
/** Browsers read megabytes at once: compressed, that may be all of it, and no progress could be told. */
const PIECE_BYTES = 64 * 1024
/** Rows to look at: more would push what is asked off the screen. */
export const PREVIEW_ROWS = 5

/** Throws an Error whose message is for people where it is no file of plants. */
export async function openSource(file: File): Promise<ImportSource> {
  const start = new Uint8Array(await file.slice(0, 2).arrayBuffer())
  const isGzip = start[0] === 0x1f && start[1] === 0x8b
  const { head, isHeadWhole } = await readHead(file, isGzip)
  const encoding = guessEncoding(head, isHeadWhole)
  const text = decode(head, encoding, isHeadWhole)
  if (text.includes('\0')) throw new Error(importTexts.notText)
  if (text.trim() === '') throw new Error(importTexts.empty)
  const ending = /\.(csv|ndjson|jsonl)(?:\.gz)?$/i.exec(file.name)?.[1]?.toLowerCase()
  const looksLikeJson = /^\s*\{/.test(text)
  const format = looksLikeJson || (ending !== undefined && ending !== 'csv') ? 'ndjson' : 'csv'
  return { file, format, isGzip, encoding, head, isHeadWhole }
}

async function readHead(file: File, isGzip: boolean) {
  if (!isGzip) {
    const head = new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer())
    return { head, isHeadWhole: head.length === file.size }
  }
  const reader = unpacked(file.stream()).getReader()
  let head = new Uint8Array()
  try {
    while (head.length < HEAD_BYTES) {
      const { done, value } = await reader.read()
      if (done) return { head, isHeadWhole: true }
      head = joined(head, value)
    }
  } catch {
    throw new Error(importTexts.packedBadly)
  }
  reader.cancel().catch(() => undefined)
  return { head, isHeadWhole: false }
}

function guessEncoding(head: Uint8Array, isWhole: boolean): Encoding {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le'
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be'
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: !isWhole })
    return 'utf-8'
  } catch {
    return 'windows-1252'
  }
}

function decode(head: Uint8Array, encoding: Encoding, isWhole: boolean): string {
  return new TextDecoder(encoding).decode(head, { stream: !isWhole })
}

/** The first rows as cells: of CSV as they stand, the header row as well; of NDJSON the id and the content. */
export function previewRows(source: ImportSource, encoding: Encoding): string[][] {
  const text = decode(source.head, encoding, source.isHeadWhole)
  // One more: the header row.
  if (source.format === 'csv') return readCells(text, PREVIEW_ROWS + 1, source.isHeadWhole)
  const lines = text.split('\n')
  if (!source.isHeadWhole) lines.pop()
  return lines
    .filter((line) => line.trim() !== '')
    .slice(0, PREVIEW_ROWS)
    .map(plantCells)
}

function plantCells(line: string): string[] {
  try {
    // Numbers as they are written: ids are beyond what a number holds.
    const exact = (_key: string, value: unknown, context?: { source?: string }) =>
      typeof value === 'number' ? (context?.source ?? String(value)) : value
    const plant = JSON.parse(line, exact) as Record<string, unknown>
    return ['id', ...PLANT_MEMBERS].map((name) => (plant[name] === undefined ? '' : String(plant[name])))
  } catch {
    return [line]
  }
}

/** Whether a character takes two bytes, also those that part rows. Such a text is sent as UTF-8. */
export function isWide(encoding: Encoding): boolean {
  return encoding.startsWith('utf-16')
}

/** The text in pieces, decompressed, and in UTF-8 where it is wide. `onBytes` is told how much of the file was read. */
export function readSource(
  { file, isGzip }: ImportSource,
  encoding: Encoding,
  onBytes: (bytes: number) => void,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let bytes = 0
  const counted = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        const piece = new Uint8Array(await file.slice(bytes, bytes + PIECE_BYTES).arrayBuffer())
        if (piece.length === 0) return controller.close()
        bytes += piece.length
        onBytes(bytes)
        controller.enqueue(piece)
      },
    },
    { highWaterMark: 0 },
  )
  const text = isGzip ? unpacked(counted) : counted
  if (!isWide(encoding)) return text
  return text
    .pipeThrough(new TextDecoderStream(encoding))
    .pipeThrough(new TextEncoderStream()) as ReadableStream<Uint8Array<ArrayBuffer>>
}

function unpacked(stream: ReadableStream<Uint8Array<ArrayBuffer>>) {
  return stream.pipeThrough(new DecompressionStream('gzip')) as ReadableStream<Uint8Array<ArrayBuffer>>
}

export function joined(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(one.length + other.length)
  both.set(one)
  both.set(other, one.length)
  return both
}
