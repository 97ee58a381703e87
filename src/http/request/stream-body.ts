import type { IncomingMessage } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { FastifyRequest } from 'fastify'
import { AppError } from '../../errors.ts'
import { yieldToEventLoop } from '../../load/yield-to-event-loop.ts'
import { exemptFromTimeout } from './request-state.ts'

/**
 * Bytes of a body that are worked on in one turn of the event loop: some hundred rows, a millisecond or so in
 * which nobody else is served.
 */
export const CHUNK_BYTES_MAX = 32 * 1024

/**
 * How long what still comes of a body is read and dropped when it is no longer wanted, so that its client reads
 * the answer and the connection stays in step; then the connection is cut off.
 */
const DROP_TIMEOUT_MS = 30_000

export interface BodyStreamOptions {
  /** A client that sends nothing for so long is given up (40801), however long the body is in all. */
  silenceMs: number
  /** Ends the reading, with its reason. */
  signal: AbortSignal
  /** Asked for each piece, as a body may come for hours; told an error, it ends there. */
  recheckToken(done: (error?: Error) => void): void
}

/**
 * The body of a request as it comes, unpacked where it is gzip, in pieces of at most CHUNK_BYTES_MAX; to be
 * judged and asked for before (`checkBodyHeaders`, `askForBody`). No more is read than is asked for, so that memory
 * is bounded. Throws 40801 for a silent client, 40002 for gzip that is broken or breaks off, 40000 for a body that
 * breaks off or a client that is gone: then there is nobody to answer. A consumer that returns early leaves the
 * connection in step.
 */
export async function* streamBody(
  { raw }: Pick<FastifyRequest, 'raw'>,
  { recheckToken, ...options }: BodyStreamOptions,
): AsyncGenerator<Buffer, undefined> {
  exemptFromTimeout(raw)
  const pieces = piecesOf(raw, options)
  let isFirst = true
  for await (const piece of isGzip(raw) ? unpacked(pieces) : pieces) {
    await new Promise<void>((resolve, reject) =>
      recheckToken((refusal) => (refusal === undefined ? resolve() : reject(refusal))),
    )
    for (let at = 0; at < piece.length; at += CHUNK_BYTES_MAX) {
      // What has arrived may be much, unpacked, and nobody waits for it any more.
      if (!isFirst) await yieldToEventLoop()
      if (isGone(raw)) throw brokenOff()
      isFirst = false
      yield piece.subarray(at, at + CHUNK_BYTES_MAX)
    }
  }
}

/** Whether the client is gone, be it within the body or behind it. */
function isGone(raw: IncomingMessage): boolean {
  return raw.errored !== null || raw.socket.destroyed
}

function brokenOff(): AppError {
  return new AppError(40000, 'The body is incomplete.')
}

/** RFC 9110 §8.4.1.3 has x-gzip as another name of gzip. */
function isGzip({ headers }: IncomingMessage): boolean {
  return /^(?:x-)?gzip$/i.test(headers['content-encoding'] ?? '')
}

async function* piecesOf(
  raw: IncomingMessage,
  { silenceMs, signal }: Pick<BodyStreamOptions, 'silenceMs' | 'signal'>,
): AsyncGenerator<Buffer> {
  let wake = () => {}
  let isOver = false
  const onReadable = () => wake()
  const onOver = () => {
    isOver = true
    wake()
  }
  raw.on('readable', onReadable)
  // A body that breaks off is told by `error` and `close`, not by `end`.
  for (const event of ['end', 'error', 'close'] as const) raw.on(event, onOver)
  signal.addEventListener('abort', onReadable)
  try {
    for (;;) {
      signal.throwIfAborted()
      const piece = raw.read() as Buffer | null
      if (piece !== null) {
        yield piece
      } else if (raw.readableEnded) {
        return
      } else if (isOver) {
        throw brokenOff()
      } else {
        const { promise, resolve, reject } = Promise.withResolvers<void>()
        wake = resolve
        const timer = setTimeout(() => reject(silent(silenceMs)), silenceMs)
        await promise.finally(() => clearTimeout(timer))
      }
    }
  } finally {
    signal.removeEventListener('abort', onReadable)
    raw.off('readable', onReadable)
    // The listener to `error` stays: without one, a client that goes away would end the process.
    if (!isOver) dropRest(raw)
  }
}

function silent(silenceMs: number): AppError {
  return new AppError(40801, `No byte of the body arrived for ${silenceMs / 1000} seconds.`)
}

function dropRest(raw: IncomingMessage): void {
  raw.resume()
  const timer = setTimeout(() => raw.socket.destroy(), DROP_TIMEOUT_MS)
  timer.unref()
  for (const event of ['end', 'close'] as const) raw.once(event, () => clearTimeout(timer))
}

async function* unpacked(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const packed = Readable.from(pieces)
  let isBroken = false
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES_MAX })
  gunzip.once('error', () => {
    // Destroyed with the error of its source, or broken by itself.
    isBroken = packed.errored === null
  })
  pipeline(packed, gunzip, () => {})
  try {
    for await (const piece of gunzip) yield piece as Buffer
  } catch (error) {
    if (!isBroken) throw error
    throw new AppError(40002, 'The body is not valid gzip. It is damaged or incomplete.', { cause: error })
  }
}
