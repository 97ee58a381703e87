import { AppError } from '../../errors.ts'
import { isGzip, markBytes, SIGNATURE_BYTES, type WideEncoding, wideEncodingOf } from './table-dialect.ts'

/**
 * Decodes a text to UTF-8, in chunks and without its byte order mark. Without an encoding the bytes pass unchanged, and
 * the reader validates them as UTF-8 line by line. Throws 40002 for gzip, for bytes that are invalid in the encoding,
 * and for UTF-16 without an encoding, with the advice of `adviceFor`.
 */
export async function* decodeText(
  chunks: AsyncIterable<Buffer>,
  encoding: string | undefined,
  adviceFor: (encoding: WideEncoding) => string,
): AsyncGenerator<Buffer, undefined> {
  const text = fromFirstBytes(chunks)
  if (encoding === undefined) yield* withoutMark(text, adviceFor)
  else yield* decoded(text, encoding)
}

/** The same chunks, but the first has at least SIGNATURE_BYTES if the text has. Throws 40002 for gzip. */
async function* fromFirstBytes(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, undefined> {
  let first: Buffer | undefined = Buffer.alloc(0)
  for await (const chunk of chunks) {
    if (first === undefined) {
      yield chunk
      continue
    }
    first = Buffer.concat([first, chunk])
    if (first.length < SIGNATURE_BYTES) continue
    yield notCompressed(first)
    first = undefined
  }
  if (first !== undefined && first.length > 0) yield notCompressed(first)
}

/** RFC 1952 §2.3.1: the third byte is the compression method, of which only one is in use. */
const DEFLATE = 8

function notCompressed(first: Buffer): Buffer {
  if (!isGzip(first) || first[2] !== DEFLATE) return first
  throw new AppError(
    40002,
    'The body is compressed with gzip. Send the header Content-Encoding: gzip, and compress the body only once.',
  )
}

async function* withoutMark(
  chunks: AsyncIterable<Buffer>,
  adviceFor: (encoding: WideEncoding) => string,
): AsyncGenerator<Buffer, undefined> {
  let isFirst = true
  for await (const chunk of chunks) {
    yield isFirst ? checkedFirst(chunk, adviceFor) : chunk
    isFirst = false
  }
}

function checkedFirst(first: Buffer, adviceFor: (encoding: WideEncoding) => string): Buffer {
  const encoding = wideEncodingOf(first)
  if (encoding === undefined) return first.subarray(markBytes(first))
  throw new AppError(40002, `The text is in UTF-16. ${adviceFor(encoding)}`, {
    details: { fields: [{ name: '', rule: 'utf-8', line: 1 }] },
  })
}

async function* decoded(chunks: AsyncIterable<Buffer>, encoding: string): AsyncGenerator<Buffer, undefined> {
  const decoder = new TextDecoder(encoding, { fatal: true })
  const decode = (chunk?: Buffer): Buffer => {
    try {
      return Buffer.from(chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true }))
    } catch (cause) {
      throw new AppError(40002, `The text is not valid ${encoding}. Choose another encoding.`, {
        cause,
        details: { parameter: 'encoding' },
      })
    }
  }
  for await (const chunk of chunks) yield decode(chunk)
  yield decode()
}
