import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError, invalidFields } from '../../errors.ts'
import { QUOTED_VALUE } from './accept.ts'
import { MEMBERS_MAX, parseExactJson, TooManyMembersError } from './exact-json.ts'
import { streamBody } from './stream-body.ts'

/**
 * Reads the body of a request. The body may arrive long after the head: the token is then checked again, and a revoked
 * one rejected with 40102.
 */
export interface BodyReader {
  /**
   * The body as JSON, with every outermost int64 exact. Throws, in this order: 40001 for a missing body, 41501 for
   * another media type, charset or coding, 41301 for a body over the limit, 40102, 40002 if it is not JSON in UTF-8.
   */
  readJson(request: FastifyRequest, reply: FastifyReply, mediaTypes?: readonly string[]): Promise<unknown>
  /** The body as it arrives, without a limit on its size; see `streamBody`. */
  stream(request: FastifyRequest, reply: FastifyReply, signal: AbortSignal): AsyncIterable<Buffer>
}

const JSON_ONLY = ['application/json']

/** The type or a parameter of Content-Type. */
const PARAMETER = new RegExp(`(?:${QUOTED_VALUE}|[^";])+`, 'g')

export interface BodyReaderOptions {
  limits: {
    /** Limit of a body that is read as a whole. */
    bodyBytesMax: number
    /** How long the client of a streamed body may send nothing. */
    requestTimeoutMs: number
  }
  /** Calls `done` with 40102 if the token of the request is no longer valid (`tokens/access/authenticate.ts`). */
  recheckToken(request: FastifyRequest, done: (error?: Error) => void): void
}

export function createBodyReader({ limits, recheckToken }: BodyReaderOptions): BodyReader {
  const { bodyBytesMax: bytesMax, requestTimeoutMs: silenceMs } = limits
  return {
    readJson(request, reply, mediaTypes = JSON_ONLY) {
      // A single promise, as each costs time on every request.
      return new Promise((resolve, reject) => {
        const { raw } = request
        request.stages?.enter('parse')
        checkBodyHeaders(raw, mediaTypes, [], 'a JSON object')
        const declaredBytes = Number(raw.headers['content-length'])
        if (declaredBytes > bytesMax) throw tooLarge(bytesMax)
        askForBody(raw, reply)
        const bytesBefore = raw.socket.bytesRead
        function take(bytes: Buffer): void {
          // The body came in the same read as the head: the token was checked just now.
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
    stream: (request, reply, signal) =>
      streamBody(request.raw, {
        response: reply.raw,
        silenceMs,
        signal,
        recheckToken: (done) => recheckToken(request, done),
      }),
  }
}

/** Whether a request says that it has a body (RFC 9112 §6.3). */
export function hasBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}

/**
 * Checks the header fields of a body and returns its media type. Throws 40001 if there is no body, 41501 for another
 * media type, charset or coding. `aliases` are other names of the media types.
 */
export function checkBodyHeaders<Type extends string>(
  { headers }: IncomingMessage,
  mediaTypes: readonly Type[],
  codings: readonly string[],
  expected: string,
  aliases: ReadonlyMap<string, Type> = new Map(),
): Type {
  if (!hasBody({ headers })) throw new AppError(40001, `The body is missing. Send ${expected}.`)
  const field = headers['content-type'] ?? ''
  const plainType = mediaTypes.find((mediaType) => mediaType === field)
  const [type = '', ...parameters] =
    plainType === undefined ? (field.toLowerCase().match(PARAMETER) ?? []) : [plainType]
  const mediaType = mediaTypes.find((known) => known === type.trim()) ?? aliases.get(type.trim())
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
    const [compressed] = codings
    throw new AppError(
      41501,
      compressed === undefined
        ? 'Send the body without a Content-Encoding.'
        : `Send the body with Content-Encoding: ${compressed}, or without one.`,
    )
  }
  return mediaType
}

/**
 * Sends 100 Continue if the client waits for it (RFC 9110 §10.1.1), which one of HTTP/1.0 never does. Call it after all
 * checks of the head.
 */
export function askForBody({ headers, httpVersion }: IncomingMessage, reply: FastifyReply): void {
  if (headers.expect === undefined || httpVersion === '1.0') return
  const expectations = headers.expect.toLowerCase().split(',')
  if (expectations.some((expectation) => expectation.trim() === '100-continue')) reply.raw.writeContinue()
}

/** Reads the whole body and calls `take` with it, or `fail` with an error. */
function readBytes(
  raw: IncomingMessage,
  bytesMax: number,
  take: (bytes: Buffer) => void,
  fail: (error: unknown) => void,
): void {
  // Nearly every body arrives as one chunk, which needs no copy.
  let first: Buffer | undefined
  let chunks: Buffer[] | undefined
  let bytes = 0
  function onData(chunk: Buffer): void {
    bytes += chunk.length
    if (bytes > bytesMax) {
      raw.off('data', onData)
      first = chunks = undefined
      // The rest is read and dropped, so that the next request can be read from the connection.
      raw.resume()
      fail(tooLarge(bytesMax))
    } else if (first === undefined) {
      first = chunk
    } else {
      chunks ??= [first]
      chunks.push(chunk)
    }
  }
  raw.on('data', onData)
  raw.on('end', () => {
    take(chunks === undefined ? (first ?? Buffer.alloc(0)) : Buffer.concat(chunks, bytes))
  })
  // The client is gone, or its body is incomplete: no response can be sent.
  raw.on('error', () => fail(new AppError(40000, 'The body is incomplete.')))
}

function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) throw new AppError(40001, 'The body is missing. Send a JSON object.')
  if (!isUtf8(bytes)) throw new AppError(40002, 'The body is not JSON in UTF-8. It has invalid UTF-8.')
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    throw new AppError(40002, 'The body must not start with a byte order mark (RFC 8259 §8.1).')
  }
  return parseJsonText(bytes.toString('utf8'), 'body')
}

/** `parseExactJson` that throws 40002 for invalid JSON; `what` is its subject in the message. */
export function parseJsonText(text: string, what: 'body' | 'line'): unknown {
  try {
    return parseExactJson(text)
  } catch (error) {
    if (error instanceof TooManyMembersError) {
      const message = `The ${what} has more than ${MEMBERS_MAX} members, the limit.`
      throw invalidFields([{ name: '', rule: 'max-items', message }])
    }
    if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error
    throw new AppError(40002, `The ${what} is not JSON${positionIn(error.message)}.`)
  }
}

/** The position of a syntax error, if known. The rest of the engine's message may quote the body. */
function positionIn(message: string): string {
  if (message.includes('end of JSON')) return ': it ends too early'
  const [, charactersBefore] = /position (\d+)/.exec(message) ?? []
  return charactersBefore === undefined ? '' : `: it is invalid after character ${charactersBefore}`
}

function tooLarge(bytesMax: number): AppError {
  return new AppError(41301, `The body is larger than ${bytesMax} bytes, the limit.`)
}
