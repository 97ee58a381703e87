import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../errors.ts'
import { parseExactJson } from './exact-json.ts'
import { streamBody } from './stream-body.ts'

/**
 * Reads the body of a request. The body may arrive long after the head: the token is then checked again, and a revoked
 * one rejected with 40102.
 */
export interface BodyReader {
  /**
   * The body as JSON, with every outermost int64 exact. Throws, in this order: 41501 for another media type, charset or
   * coding, 41301 for a body over the limit, 40001 for none, 40102, 40002 for what is not JSON in UTF-8.
   */
  readJson(request: FastifyRequest, reply: FastifyReply, mediaTypes?: readonly string[]): Promise<unknown>
  /** The body as it comes, however long it becomes; see `streamBody`. */
  stream(request: FastifyRequest, signal: AbortSignal): AsyncIterable<Buffer>
}

const JSON_ONLY = ['application/json']

export interface BodyReaderOptions {
  limits: {
    /** Of a body that is read whole. */
    bodyBytesMax: number
    /** How long the client of one that is streamed may send nothing. */
    requestTimeoutMs: number
  }
  /** Calls `done` with 40102 where the token of the request is no longer valid (`tokens/access/authenticate.ts`). */
  recheckToken(request: FastifyRequest, done: (error?: Error) => void): void
}

export function createBodyReader({ limits, recheckToken }: BodyReaderOptions): BodyReader {
  const { bodyBytesMax: bytesMax, requestTimeoutMs: silenceMs } = limits
  return {
    readJson(request, reply, mediaTypes = JSON_ONLY) {
      // One promise for the whole way, as each costs something on every request.
      return new Promise((resolve, reject) => {
        const { raw } = request
        request.stages?.enter('parse')
        checkBodyHeaders(raw, mediaTypes, [], 'a JSON object')
        const declaredBytes = Number(raw.headers['content-length'])
        if (declaredBytes > bytesMax) throw tooLarge(bytesMax)
        askForBody(raw, reply)
        const bytesBefore = raw.socket.bytesRead
        function take(bytes: Buffer): void {
          // In the same read as the head: the token was checked just now.
          if (raw.socket.bytesRead === bytesBefore) finish(bytes)
          else recheckToken(request, (rejection) => finish(bytes, rejection))
        }
        function finish(bytes: Buffer, rejection?: Error): void {
          try {
            if (rejection !== undefined) throw rejection
            resolve(parseJson(bytes))
          } catch (error) {
            reject(error)
          }
        }
        readBytes(raw, bytesMax, take, reject)
      })
    },
    stream: (request, signal) =>
      streamBody(request, { silenceMs, signal, recheckToken: (done) => recheckToken(request, done) }),
  }
}

/** Whether a request says that it has a body (RFC 9112 §6.3). */
export function hasBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}

/**
 * Judges a body by the header fields of its request: throws 40001 where there is none, 41501 for another media
 * type, charset or coding than those and none. Returns its media type.
 */
export function checkBodyHeaders<Type extends string>(
  { headers }: IncomingMessage,
  mediaTypes: readonly Type[],
  codings: readonly string[],
  wanted: string,
): Type {
  if (!hasBody({ headers })) throw new AppError(40001, `The body is missing: send ${wanted}.`)
  const field = headers['content-type'] ?? ''
  const plainType = mediaTypes.find((mediaType) => mediaType === field)
  const [type = '', ...parameters] = plainType === undefined ? field.toLowerCase().split(';') : [plainType]
  const mediaType = mediaTypes.find((known) => known === type.trim())
  if (mediaType === undefined) {
    throw new AppError(41501, `Send the body with Content-Type: ${mediaTypes.join(' or ')}.`)
  }
  for (const parameter of parameters) {
    const [name = '', value = ''] = parameter.split('=')
    if (name.trim() === 'charset' && !/^\s*"?utf-?8"?\s*$/.test(value)) {
      throw new AppError(41501, 'Send the body in UTF-8.')
    }
  }
  const coding = headers['content-encoding']
  if (coding !== undefined && ![...codings, 'identity'].includes(coding.toLowerCase())) {
    const [packed] = codings
    throw new AppError(
      41501,
      packed === undefined
        ? 'Send the body without a Content-Encoding.'
        : `Send the body with Content-Encoding: ${packed}, or without one.`,
    )
  }
  return mediaType
}

/** Asks for the body where the client waits to be asked (RFC 9110 §10.1.1): when all before it is judged. */
export function askForBody({ headers }: IncomingMessage, reply: FastifyReply): void {
  if (headers.expect !== undefined && /^100-continue$/i.test(headers.expect)) reply.raw.writeContinue()
}

/** Reads the body whole and hands it to `take`; `fail` is told why it cannot. */
function readBytes(
  raw: IncomingMessage,
  bytesMax: number,
  take: (bytes: Buffer) => void,
  fail: (error: unknown) => void,
): void {
  // Nearly every body comes in one piece, which is then taken as it is.
  let first: Buffer | undefined
  let pieces: Buffer[] | undefined
  let bytes = 0
  function onData(piece: Buffer): void {
    bytes += piece.length
    if (bytes > bytesMax) {
      raw.off('data', onData)
      first = pieces = undefined
      // What still comes is read and dropped, so that the connection stays in step.
      raw.resume()
      fail(tooLarge(bytesMax))
    } else if (first === undefined) {
      first = piece
    } else {
      pieces ??= [first]
      pieces.push(piece)
    }
  }
  raw.on('data', onData)
  raw.on('end', () => {
    take(pieces === undefined ? (first ?? Buffer.alloc(0)) : Buffer.concat(pieces, bytes))
  })
  // Only ever the client going away, or its body breaking off: there is nobody left to answer.
  raw.on('error', () => fail(new AppError(40000, 'The body broke off.')))
}

function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) throw new AppError(40001, 'The body is missing: send a JSON object.')
  if (!isUtf8(bytes)) throw new AppError(40002, 'The body is not JSON: it is not valid UTF-8.')
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    throw new AppError(40002, 'The body is not JSON: it begins with a byte order mark (RFC 8259 §8.1).')
  }
  return parseJsonText(bytes.toString('utf8'), 'body')
}

/** `parseExactJson` that throws 40002 for what is not JSON; `what` tells what the text is of. */
export function parseJsonText(text: string, what: 'body' | 'line'): unknown {
  try {
    return parseExactJson(text)
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error
    throw new AppError(40002, `The ${what} is not JSON${positionIn(error.message)}.`)
  }
}

/**
 * Where the text stops being JSON, if the engine says so; its message may quote the body, so no more of it is
 * told.
 */
function positionIn(message: string): string {
  if (message.includes('end of JSON')) return ': it breaks off'
  const [, charactersBefore] = /position (\d+)/.exec(message) ?? []
  return charactersBefore === undefined ? '' : `: it goes wrong after character ${charactersBefore}`
}

function tooLarge(bytesMax: number): AppError {
  return new AppError(41301, `The body is larger than ${bytesMax} bytes.`)
}
