import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { ImportFileOptions } from '../../client/plant-store-client.ts'
import { RowEndError } from '../../plants/import/row-scanner.ts'
import { createTableConverter } from '../../plants/import/table-converter.ts'
import { type Delimiter, isWide } from '../../plants/import/table-dialect.ts'
import { headerDelimiter } from '../../plants/import/table-guess.ts'
import { CommandFailure } from '../output/command-failure.ts'

type Chunks = AsyncIterable<Uint8Array>

export interface DecodedInput {
  source: AsyncIterable<Uint8Array | string>
  /** The options that remain. */
  file: ImportFileOptions
  /** What separates the cells of the file. */
  delimiter: Delimiter
}

/** A longer header row is taken to have commas. */
const HEADER_BYTES_MAX = 64 * 1024

/**
 * The text of a file, decompressed, decoded if it is UTF-16, and with commas: so the client can send it in slices.
 * Without `delimiter`, the header row decides. Reading throws a CommandFailure for invalid gzip and text, and the
 * errors of `chunks`.
 */
export async function decodedInput(
  chunks: AsyncIterable<Buffer>,
  { gzip, encoding, ...file }: ImportFileOptions,
  delimiter?: Delimiter,
): Promise<DecodedInput> {
  const bytes = gzip ? decompressed(chunks) : chunks
  const isGuessed = delimiter === undefined && file.format === 'csv' && file.columns === undefined
  const input = isGuessed ? await withDelimiter(bytes, encoding) : { bytes, delimiter: delimiter ?? ',' }
  const isConverted = input.delimiter !== ','
  const isDecoded = encoding !== undefined && (isWide(encoding) || (isConverted && encoding !== 'utf-8'))
  const source = isDecoded ? decoded(input.bytes, encoding) : input.bytes
  return {
    source: isConverted ? converted(source, input.delimiter) : source,
    file: isDecoded ? file : { ...file, encoding },
    delimiter: input.delimiter,
  }
}

/** The same bytes, with the delimiter of the header row. */
async function withDelimiter(chunks: Chunks, encoding: string | undefined) {
  const iterator = chunks[Symbol.asyncIterator]()
  let head: Uint8Array = Buffer.alloc(0)
  let delimiter: Delimiter | undefined
  while (delimiter === undefined) {
    const { done, value } = await iterator.next()
    if (!done) head = head.length === 0 ? value : Buffer.concat([head, value])
    const isWhole = done === true || head.length >= HEADER_BYTES_MAX
    const text = new TextDecoder(encoding).decode(head.subarray(0, HEADER_BYTES_MAX), { stream: !isWhole })
    delimiter = headerDelimiter(text, isWhole)
  }
  async function* all(): AsyncGenerator<Uint8Array, void, undefined> {
    yield head
    yield* { [Symbol.asyncIterator]: () => iterator }
  }
  return { bytes: all(), delimiter }
}

/** A table with commas. */
async function* converted(
  chunks: AsyncIterable<Uint8Array | string>,
  delimiter: Delimiter,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { convert, end } = createTableConverter(delimiter)
  try {
    for await (const chunk of chunks) yield convert(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
    yield end()
  } catch (error) {
    if (!(error instanceof RowEndError)) throw error
    throw new CommandFailure(
      `The row that begins on line ${error.line} has no end. Look for a quotation mark that is not closed.`,
    )
  }
}

async function* decompressed(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  const source = Readable.from(chunks)
  const gunzip = createGunzip()
  let isDamaged = false
  gunzip.once('error', () => {
    // Not if the source failed, which fails gunzip as well.
    isDamaged = source.errored === null
  })
  const running = pipeline(source, gunzip)
  running.catch(() => undefined)
  try {
    for await (const chunk of gunzip) yield chunk as Buffer
  } catch (error) {
    throw isDamaged ? new CommandFailure('The file is not valid gzip, or incomplete.') : error
  }
}

async function* decoded(
  chunks: AsyncIterable<Uint8Array>,
  encoding: string,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder(encoding, { fatal: true })
  const decode = (chunk?: Uint8Array): string => {
    try {
      return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true })
    } catch {
      throw new CommandFailure(`The text is not valid ${encoding}. See --encoding.`)
    }
  }
  for await (const chunk of chunks) yield decode(chunk)
  yield decode()
}
