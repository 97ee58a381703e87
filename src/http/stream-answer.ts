import type { ServerResponse } from 'node:http'
import { createGzip, type Gzip } from 'node:zlib'
import type { FastifyReply } from 'fastify'
import { AppError } from '../errors.ts'
import { type HeaderList, writeHead } from './answers.ts'
import { GZIP_LEVEL } from './compression.ts'

/**
 * How long an answer may wait for its client to read on; it holds a connection, and perhaps a snapshot of the
 * store, as long.
 */
const UNREAD_TIMEOUT_MS = 60_000

/** An answer that is sent as it arises, however long it becomes. */
export interface AnswerStream {
  /**
   * Sends text. Returns a promise where the client does not keep up: it fulfils when more may be sent. It rejects
   * with 40000 when the client has gone away, and with 40801 when it reads nothing for too long, and is cut off.
   */
  send(text: string): Promise<void> | undefined
  /** The answer is whole. */
  end(): void
  /** Breaks the connection off, so that the client sees that the answer is not whole. */
  cut(): void
}

export interface StreamOptions {
  fields?: HeaderList
  /** Whether what is sent is compressed; not for an answer that is to arrive line by line. */
  isCompressed?: boolean
  unreadTimeoutMs?: number
}

/** Begins an answer with 200 whose length nobody knows yet; of HEAD it sends the header fields, and no body. */
export function streamAnswer(
  reply: FastifyReply,
  mediaType: string,
  { fields = [], isCompressed = false, unreadTimeoutMs = UNREAD_TIMEOUT_MS }: StreamOptions = {},
): AnswerStream {
  const { raw } = reply
  const coding = isCompressed ? ['content-encoding', 'gzip'] : []
  writeHead(reply, 200, ['content-type', mediaType, ...coding, ...fields])
  raw.flushHeaders()
  // What fails here is a client that goes away, which `close` tells as well.
  raw.on('error', () => {})
  const sink = isCompressed ? compressInto(raw) : raw

  function drained(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const onClose = () => reject(new AppError(40000, 'The client has gone away.'))
    const timer = setTimeout(() => {
      reject(new AppError(40801, `Nobody read the answer for ${unreadTimeoutMs / 1000} seconds.`))
      raw.destroy()
    }, unreadTimeoutMs)
    sink.once('drain', resolve)
    raw.once('close', onClose)
    return promise.finally(() => {
      clearTimeout(timer)
      sink.off('drain', resolve)
      raw.off('close', onClose)
    })
  }

  return {
    send(text) {
      if (raw.destroyed) return Promise.reject(new AppError(40000, 'The client has gone away.'))
      return sink.write(text) ? undefined : drained()
    },
    end() {
      if (raw.destroyed) return
      const timer = setTimeout(() => raw.destroy(), unreadTimeoutMs)
      raw.once('close', () => clearTimeout(timer))
      sink.end()
    },
    cut() {
      raw.destroy()
    },
  }
}

/** What is written to it is sent compressed; it ends the answer, and goes with it. */
function compressInto(raw: ServerResponse): Gzip {
  const gzip = createGzip({ level: GZIP_LEVEL })
  gzip.pipe(raw)
  raw.once('close', () => gzip.destroy())
  return gzip
}
