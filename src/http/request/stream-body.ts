import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { AppError } from '../../errors.ts'
import { type MinimumRate, watchRate } from '../../load/minimum-rate.ts'
import { yieldToEventLoop } from '../../load/yield-to-event-loop.ts'
import { exemptFromTimeout, isClientConnected } from './request-state.ts'

/** Bytes of a body in one slice of the event loop: some hundred rows, which block it for about a millisecond. */
export const CHUNK_BYTES_MAX = 32 * 1024

/**
 * How long the rest of an unused body is read and discarded, so that its client reads the response and the connection
 * stays usable. After that the connection is dropped.
 */
const DISCARD_TIMEOUT_MS = 30_000

/** A client that sends less, such as a byte every few seconds, would take a slot of the imports for hours. */
const MINIMUM_RATE: MinimumRate = { bytes: 300 * 1024, withinMs: 5 * 60_000 }

/** How often a client is probed that has closed its side of the connection. */
const PROBE_INTERVAL_MS = 500

export interface BodyStreamOptions {
  /** The response of the request. If it has not started, 100 Continue may be sent to find out if the client is gone. */
  response: ServerResponse
  /** Time limit for a client that sends nothing (40801). The body as a whole has none. */
  silenceMs: number
  minimumRate?: MinimumRate
  /** Aborts the reading, which throws its reason. */
  signal: AbortSignal
  /** Called for each chunk, as a body may arrive for hours. An error ends the reading. */
  recheckToken(done: (error?: Error) => void): void
}

/**
 * The body of a request as it arrives, decompressed, in chunks of at most CHUNK_BYTES_MAX. Call `checkBodyHeaders` and
 * `askForBody` first. Reading waits for the consumer, so memory is bounded; a consumer may return early.
 *
 * Throws 40801 for a silent or too slow client, 40002 for damaged or incomplete gzip, and 40000 for an incomplete body
 * or a client that is gone: then no response can be sent.
 */
export async function* streamBody(
  raw: IncomingMessage,
  { recheckToken, response, ...options }: BodyStreamOptions,
): AsyncGenerator<Buffer, undefined> {
  exemptFromTimeout(raw)
  const chunks = chunksOf(raw, options)
  const probeClient = createClientProbe(raw, response)
  let isFirst = true
  for await (const chunk of isGzip(raw) ? decompressed(chunks) : chunks) {
    await new Promise<void>((resolve, reject) =>
      recheckToken((rejection) => (rejection === undefined ? resolve() : reject(rejection))),
    )
    for (let at = 0; at < chunk.length; at += CHUNK_BYTES_MAX) {
      // One chunk may decompress to much, and the client may be gone by now.
      if (!isFirst) await yieldToEventLoop()
      probeClient()
      if (isGone(raw)) throw incompleteBody()
      isFirst = false
      yield chunk.subarray(at, at + CHUNK_BYTES_MAX)
    }
  }
}

/**
 * Probes a client that has closed its side of the connection. It may be gone, or it may still read the response: only
 * writing shows which. A connection that is gone is reset after the first write, and the second write notices. A client
 * that reads must discard 100 Continue (RFC 9110 §15.2.1); HTTP/1.0 does not have it.
 */
function createClientProbe(raw: IncomingMessage, response: ServerResponse): () => void {
  let probedAtMs = Number.NEGATIVE_INFINITY
  return () => {
    if (!raw.socket.readableEnded || response.headersSent || raw.httpVersion === '1.0') return
    if (performance.now() - probedAtMs < PROBE_INTERVAL_MS) return
    probedAtMs = performance.now()
    response.writeContinue()
  }
}

/** Whether the client is gone, during the body or after it. */
function isGone(raw: IncomingMessage): boolean {
  return raw.errored !== null || !isClientConnected(raw)
}

function incompleteBody(): AppError {
  return new AppError(40000, 'The body is incomplete.')
}

/** RFC 9110 §8.4.1.3: x-gzip is another name of gzip. */
function isGzip({ headers }: IncomingMessage): boolean {
  return /^(?:x-)?gzip$/i.test(headers['content-encoding'] ?? '')
}

async function* chunksOf(
  raw: IncomingMessage,
  { silenceMs, signal, minimumRate = MINIMUM_RATE }: Omit<BodyStreamOptions, 'recheckToken' | 'response'>,
): AsyncGenerator<Buffer> {
  const rate = watchRate(minimumRate)
  let wake = () => {}
  let isEnded = false
  const onReadable = () => wake()
  const onEnded = () => {
    isEnded = true
    wake()
  }
  raw.on('readable', onReadable)
  // An incomplete body emits `error` and `close`, not `end`.
  for (const event of ['end', 'error', 'close'] as const) raw.on(event, onEnded)
  signal.addEventListener('abort', onReadable)
  try {
    for (;;) {
      signal.throwIfAborted()
      const chunk = raw.read() as Buffer | null
      if (chunk !== null) {
        rate.onBytes(chunk.length)
        yield chunk
      } else if (raw.readableEnded) {
        return
      } else if (isEnded) {
        throw incompleteBody()
      } else {
        const { promise, resolve, reject } = Promise.withResolvers<void>()
        wake = resolve
        const timer = setTimeout(() => reject(silentClient(silenceMs)), silenceMs)
        const sinceMs = performance.now()
        await promise.finally(() => clearTimeout(timer))
        if (rate.isTooSlow(performance.now() - sinceMs)) throw slowClient(minimumRate)
      }
    }
  } finally {
    signal.removeEventListener('abort', onReadable)
    raw.off('readable', onReadable)
    // The listener to `error` stays: without one, a client that goes away would end the process.
    if (!isEnded) discardRest(raw)
  }
}

function silentClient(silenceMs: number): AppError {
  return new AppError(40801, `No byte of the body arrived for ${silenceMs / 1000} seconds.`)
}

function slowClient({ bytes, withinMs }: MinimumRate): AppError {
  return new AppError(40801, `Less than ${bytes} bytes of the body arrived in ${withinMs / 1000} seconds.`)
}

function discardRest(raw: IncomingMessage): void {
  raw.resume()
  const timer = setTimeout(() => raw.socket.destroy(), DISCARD_TIMEOUT_MS)
  timer.unref()
  for (const event of ['end', 'close'] as const) raw.once(event, () => clearTimeout(timer))
}

async function* decompressed(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const source = Readable.from(chunks)
  let isDamaged = false
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES_MAX })
  gunzip.once('error', () => {
    // Not if the source failed, which fails gunzip as well.
    isDamaged = source.errored === null
  })
  pipeline(source, gunzip, () => {})
  try {
    for await (const chunk of gunzip) yield chunk as Buffer
  } catch (error) {
    if (!isDamaged) throw error
    throw new AppError(40002, 'The body is not valid gzip. It is damaged or incomplete.', { cause: error })
  }
}
