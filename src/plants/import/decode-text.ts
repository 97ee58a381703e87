import { AppError } from '../../errors.ts'
import { isGzip, markBytes, SIGNATURE_BYTES, type WideEncoding, wideEncodingOf } from './table-dialect.ts'

/**
 * A text in chunks, in UTF-8 whatever its encoding, without its byte order mark. Without an encoding the bytes pass
 * as they are: the reader validates them as UTF-8, a line at a time. Throws 40002 for gzip and UTF-16 without an
 * encoding, with `adviceFor` the latter, and for bytes that are not of the encoding.
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

/** The same in chunks of which the first holds SIGNATURE_BYTES, where there are so many. Throws 40002 for gzip. */
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

/** RFC 1952 §2.3.1: the third byte says how it is compressed, and only one way is in use. */
const DEFLATE = 8

function notCompressed(first: Buffer): Buffer {
  if (!isGzip(first) || first[2] !== DEFLATE) return first
  throw new AppError(
    40002,
    'The text is compressed. Send it with Content-Encoding: gzip, compressed only once.',
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
