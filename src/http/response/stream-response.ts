import type { ServerResponse } from 'node:http'
import { createGzip, type Gzip } from 'node:zlib'
import type { FastifyReply } from 'fastify'
import { AppError } from '../../errors.ts'
import { wasNotRead } from '../connections/slow-readers.ts'
import { GZIP_LEVEL } from './compression.ts'
import { type HeaderList, notifyWhenDropped, writeHead } from './responses.ts'

/** A response of any length that is sent while it is produced. */
export interface ResponseStream {
  /**
   * Sends text. Returns a promise if the client does not keep up: it fulfils when more may be sent. It rejects with
   * 40000 if the client is gone, and with 40801 if it was dropped because it did not read (`slow-readers.ts`).
   */
  send(text: string): Promise<void> | undefined
  /** Ends the response, which is complete. */
  end(): void
  /** Drops the connection, so that the client sees that the response is incomplete. */
  abort(): void
}

export interface StreamOptions {
  fields?: HeaderList
  /** Whether the response is compressed. Not for one that must arrive line by line. */
  isCompressed?: boolean
}

/** Starts a response of unknown length with the status 200; the response to HEAD has only header fields. */
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
  // Only a client that goes away causes this error, and `close` follows.
  raw.on('error', () => {})
  const sink = isCompressed ? compressInto(raw) : raw

  function drained(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const onClose = () => {
      const isUnread = wasNotRead(raw.req.socket)
      reject(isUnread ? new AppError(40801, 'The client did not read the response in time.') : clientGone())
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
    abort() {
      raw.destroy()
    },
  }
}

function clientGone(): AppError {
  return new AppError(40000, 'The client is gone.')
}

/** A compressor whose output is sent; its end ends the response, and it is destroyed with the response. */
function compressInto(raw: ServerResponse): Gzip {
  const gzip = createGzip({ level: GZIP_LEVEL })
  gzip.pipe(raw)
  raw.once('close', () => gzip.destroy())
  return gzip
}
