import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { OnDropped } from './dropped-connections.ts'

/**
 * How often connections are checked; a slow one may live this much longer than its limit. The service can produce
 * 200 MB of pages a second, and checking ten thousand connections takes about a millisecond.
 */
const CHECK_INTERVAL_MS = 250

/**
 * Limit on the unsent bytes of all responses in memory: enough for pages of ordinary plants to thousands of slow
 * clients, and available on a small machine.
 */
const UNSENT_BYTES_MAX = 256 * 1024 * 1024

/**
 * Longer bodies are written in chunks of this size. This shows whether the client reads, and copies the rest only when
 * the socket has room for it. Most pages are shorter.
 */
export const CHUNK_BYTES_MAX = 256 * 1024

/** Bytes of long bodies that are not yet written to their connection. */
const unwrittenBytes = new WeakMap<Duplex, number>()

/** Connections that were dropped because their client did not read. */
const droppedUnread = new WeakSet<Duplex>()

export interface SlowReaderOptions {
  sockets: ReadonlySet<Socket>
  /** How long a client may read nothing of its response. */
  sendTimeoutMs: number
  unsentBytesMax?: number
  onDropped: OnDropped
}

interface Progress {
  bytesWritten: number
  sinceMs: number
}

/** Ends a response with a long body, sent no faster than its client reads. */
export function endWithLong(response: ServerResponse, body: Buffer): void {
  const { socket } = response.req
  let sent = 0
  const addUnwritten = (bytes: number) =>
    unwrittenBytes.set(socket, (unwrittenBytes.get(socket) ?? 0) + bytes)
  function writeMore(): void {
    while (!response.destroyed) {
      const chunk = body.subarray(sent, sent + CHUNK_BYTES_MAX)
      sent += chunk.length
      addUnwritten(-chunk.length)
      if (sent === body.length) return void response.end(chunk)
      if (!response.write(chunk)) return void response.once('drain', writeMore)
    }
  }
  addUnwritten(body.length)
  response.once('close', () => addUnwritten(sent - body.length))
  writeMore()
}

/** Whether a connection was dropped because its client did not read. */
export function wasNotRead(socket: Duplex): boolean {
  return droppedUnread.has(socket)
}

/**
 * Drops connections whose client has read nothing for `sendTimeoutMs` although bytes wait for it. If all connections
 * together have too many unsent bytes, it drops those that have waited longest. It checks all connections at intervals,
 * as a timer per response would slow down every request. Returns a function that stops it.
 */
export function dropSlowReaders(options: SlowReaderOptions): () => void {
  const { sockets, sendTimeoutMs, unsentBytesMax = UNSENT_BYTES_MAX, onDropped } = options
  /** The last progress of each connection with unsent bytes. */
  let progress = new Map<Socket, Progress>()

  function drop(socket: Socket, reason: 'unread' | 'unsent'): void {
    droppedUnread.add(socket)
    onDropped(reason, socket.remoteAddress)
    socket.destroy()
  }

  function check(): void {
    const nowMs = performance.now()
    const previous = progress
    progress = new Map()
    let unsentBytes = 0
    for (const socket of sockets) {
      const unsent = unsentOn(socket)
      if (unsent === 0) continue
      const { bytesWritten } = socket
      const last = previous.get(socket)
      const isStuck = last?.bytesWritten === bytesWritten
      if (isStuck && nowMs - last.sinceMs >= sendTimeoutMs) {
        drop(socket, 'unread')
        continue
      }
      progress.set(socket, isStuck ? last : { bytesWritten, sinceMs: nowMs })
      unsentBytes += unsent
    }
    if (unsentBytes <= unsentBytesMax) return
    const longestFirst = [...progress].sort(([, one], [, other]) => one.sinceMs - other.sinceMs)
    for (const [socket] of longestFirst) {
      if (unsentBytes <= unsentBytesMax) break
      unsentBytes -= unsentOn(socket)
      drop(socket, 'unsent')
    }
  }

  const timer = setInterval(check, Math.min(CHECK_INTERVAL_MS, sendTimeoutMs))
  timer.unref()
  return () => clearInterval(timer)
}

/** The bytes that wait to be sent on a connection; of text in Node's buffer, its characters. */
function unsentOn(socket: Socket): number {
  return socket.writableLength + (unwrittenBytes.get(socket) ?? 0)
}
