import type { ServerResponse } from 'node:http'
import { createGzip, type Gzip } from 'node:zlib'
import type { FastifyReply } from 'fastify'
import { AppError } from '../../errors.ts'
import { wasNotRead } from '../connections/slow-readers.ts'
import { GZIP_LEVEL } from './compression.ts'
import { type HeaderList, notifyWhenDropped, writeHead } from './responses.ts'

/** An answer that is sent as it arises, however long it becomes. */
export interface ResponseStream {
  /**
   * Sends text. Returns a promise where the client does not keep up: it fulfils when more may be sent. It rejects
   * with 40000 when the client has gone away, and with 40801 when it reads nothing for too long, and is cut off
   * (`unread-answers.ts`).
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
}

/** Begins an answer with 200 whose length nobody knows yet; of HEAD it sends the header fields, and no body. */
export function streamResponse(
  reply: FastifyReply,
  mediaType: string,
  { fields = [], isCompressed = false }: StreamOptions = {},
): ResponseStream {
  const { raw } = reply
  const coding = isCompressed ? ['content-encoding', 'gzip'] : []
  writeHead(reply, 200, ['content-type', mediaType, ...coding, ...fields])
  notifyWhenDropped(reply)
  raw.flushHeaders()
  // What fails here is a client that goes away, which `close` tells as well.
  raw.on('error', () => {})
  const sink = isCompressed ? compressInto(raw) : raw

  function drained(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const onClose = () => {
      const isUnread = wasNotRead(raw.req.socket)
      reject(isUnread ? new AppError(40801, 'Nobody read the answer in time.') : clientGone())
    }
    sink.once('drain', resolve)
    raw.once('close', onClose)
    return promise.finally(() => {
      sink.off('drain', resolve)
      raw.off('close', onClose)
    })
  }

  return {
    send(text) {
      if (raw.destroyed) return Promise.reject(clientGone())
      return sink.write(text) ? undefined : drained()
    },
    end() {
      if (raw.destroyed) return
      sink.end()
    },
    cut() {
      raw.destroy()
    },
  }
}

function clientGone(): AppError {
  return new AppError(40000, 'The client has gone away.')
}

/** What is written to it is sent compressed; it ends the answer, and goes with it. */
function compressInto(raw: ServerResponse): Gzip {
  const gzip = createGzip({ level: GZIP_LEVEL })
  gzip.pipe(raw)
  raw.once('close', () => gzip.destroy())
  return gzip
}
