import { AppError } from '../../errors.ts'

/** So many bytes tell a byte order mark, or UTF-16 without one. */
const FIRST_BYTES = 4

/**
 * A text in pieces, in UTF-8 whatever its encoding is. A byte order mark is left out. Without an encoding the bytes
 * pass as they are: whether they are UTF-8 is for the reader to judge, a line at a time. Throws 40002 for gzip
 * and UTF-16 that nobody announced, with `adviceFor` the latter, and for what is not of the encoding.
 */
export async function* decodeText(
  pieces: AsyncIterable<Buffer>,
  encoding: string | undefined,
  adviceFor: (encoding: 'utf-16le' | 'utf-16be') => string,
): AsyncGenerator<Buffer, undefined> {
  const text = fromFirstBytes(pieces)
  if (encoding === undefined) yield* withoutMark(text, adviceFor)
  else yield* decoded(text, encoding)
}

/** The same in pieces of which the first holds FIRST_BYTES, where there are so many. Throws 40002 for gzip. */
async function* fromFirstBytes(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer, undefined> {
  let first: Buffer | undefined = Buffer.alloc(0)
  for await (const piece of pieces) {
    if (first === undefined) {
      yield piece
      continue
    }
    first = Buffer.concat([first, piece])
    if (first.length < FIRST_BYTES) continue
    yield notPacked(first)
    first = undefined
  }
  if (first !== undefined && first.length > 0) yield notPacked(first)
}

/** RFC 1952 §2.3.1: no text begins so, in any encoding that somebody uses. */
function notPacked(first: Buffer): Buffer {
  const [one, two, three] = first
  if (one !== 0x1f || two !== 0x8b || three !== 0x08) return first
  throw new AppError(
    40002,
    'The text is compressed. Send it with Content-Encoding: gzip, compressed only once.',
  )
}

async function* withoutMark(
  pieces: AsyncIterable<Buffer>,
  adviceFor: (encoding: 'utf-16le' | 'utf-16be') => string,
): AsyncGenerator<Buffer, undefined> {
  let isFirst = true
  for await (const piece of pieces) {
    yield isFirst ? judgeFirst(piece, adviceFor) : piece
    isFirst = false
  }
}

function judgeFirst(first: Buffer, adviceFor: (encoding: 'utf-16le' | 'utf-16be') => string): Buffer {
  const [one, two, three] = first
  if (one === 0xef && two === 0xbb && three === 0xbf) return first.subarray(3)
  const isLittle = (one === 0xff && two === 0xfe) || (one !== 0 && two === 0)
  const isBig = (one === 0xfe && two === 0xff) || (one === 0 && two !== 0 && two !== undefined)
  if (!isLittle && !isBig) return first
  throw new AppError(40002, `The text is in UTF-16. ${adviceFor(isLittle ? 'utf-16le' : 'utf-16be')}`, {
    details: { fields: [{ name: '', rule: 'utf-8', line: 1 }] },
  })
}

async function* decoded(pieces: AsyncIterable<Buffer>, encoding: string): AsyncGenerator<Buffer, undefined> {
  const decoder = new TextDecoder(encoding, { fatal: true })
  const decode = (piece?: Buffer): Buffer => {
    try {
      return Buffer.from(piece === undefined ? decoder.decode() : decoder.decode(piece, { stream: true }))
    } catch (cause) {
      throw new AppError(40002, `The text is not valid ${encoding}. Choose another encoding.`, {
        cause,
        details: { parameter: 'encoding' },
      })
    }
  }
  for await (const piece of pieces) yield decode(piece)
  yield decode()
}
