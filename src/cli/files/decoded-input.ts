import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { ImportFileOptions } from '../../client/plant-store-client.ts'
import { isWide } from '../../plants/import/table-dialect.ts'
import { CommandFailure } from '../output/command-failure.ts'

/**
 * The text of a file, decompressed and, if it is UTF-16, decoded, with the options that remain: so the client can send
 * it in slices. Reading throws a CommandFailure for invalid gzip and UTF-16, and the errors of `chunks`.
 */
export function decodedInput(
  chunks: AsyncIterable<Buffer>,
  { gzip, encoding, ...file }: ImportFileOptions,
): { source: AsyncIterable<Uint8Array | string>; file: ImportFileOptions } {
  const bytes = gzip ? decompressed(chunks) : chunks
  if (!isWide(encoding)) return { source: bytes, file: { ...file, encoding } }
  return { source: decoded(bytes, encoding), file }
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
