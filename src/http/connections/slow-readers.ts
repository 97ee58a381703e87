import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { OnDropped } from './dropped-connections.ts'

/**
 * How often connections are looked at: one that is to be cut off lives this much longer at most. In a second a service
 * can make 200 MB of pages; to look at ten thousand connections takes about a millisecond.
 */
const LOOK_EVERY_MS = 250

/**
 * What all answers together may hold in memory while clients do not read them: more than pages of ordinary plants to
 * thousands of slow clients, and no more than a small machine has.
 */
const UNSENT_BYTES_MAX = 256 * 1024 * 1024

/**
 * A longer body is handed to the operating system piece by piece, so that one sees whether its client reads, and so
 * that the rest of it is copied only when there is room for it. The usual page is shorter.
 */
export const CHUNK_BYTES_MAX = 256 * 1024

/** What of long bodies is yet to be handed to each connection. */
const heldBytes = new WeakMap<Duplex, number>()

/** Connections that were cut off because nobody read what was sent on them. */
const leftUnread = new WeakSet<Duplex>()

export interface SlowReaderOptions {
  sockets: ReadonlySet<Socket>
  /** How long the client of an answer may read nothing of it. */
  sendTimeoutMs: number
  unsentBytesMax?: number
  onDropped: OnDropped
}

interface Mark {
  bytesWritten: number
  sinceMs: number
}

/** Ends an answer with a long body, sent no faster than its client reads. */
export function endWithLong(response: ServerResponse, body: Buffer): void {
  const { socket } = response.req
  let sent = 0
  const hold = (bytes: number) => heldBytes.set(socket, (heldBytes.get(socket) ?? 0) + bytes)
  function sendOn(): void {
    while (!response.destroyed) {
      const piece = body.subarray(sent, sent + CHUNK_BYTES_MAX)
      sent += piece.length
      hold(-piece.length)
      if (sent === body.length) return void response.end(piece)
      if (!response.write(piece)) return void response.once('drain', sendOn)
    }
  }
  hold(body.length)
  response.once('close', () => hold(sent - body.length))
  sendOn()
}

/** Whether a connection was cut off because nobody read what was sent on it. */
export function wasNotRead(socket: Duplex): boolean {
  return leftUnread.has(socket)
}

/**
 * Cuts off, from now on, the connections on which something waits to be sent and nothing was for the time allowed;
 * and where all that waits is too much, those that have waited longest. A look at all connections now and then, as a
 * timer for each answer would cost every request. Returns what ends it.
 */
export function dropSlowReaders(options: SlowReaderOptions): () => void {
  const { sockets, sendTimeoutMs, unsentBytesMax = UNSENT_BYTES_MAX, onDropped } = options
  /** What was sent on a connection when something was last, since it began to wait. */
  let marks = new Map<Socket, Mark>()

  function cut(socket: Socket, reason: 'unread' | 'unsent'): void {
    leftUnread.add(socket)
    onDropped(reason, socket.remoteAddress)
    socket.destroy()
  }

  function look(): void {
    const nowMs = performance.now()
    const before = marks
    marks = new Map()
    let unsentBytes = 0
    for (const socket of sockets) {
      const unsent = unsentOn(socket)
      if (unsent === 0) continue
      const { bytesWritten } = socket
      const mark = before.get(socket)
      const isStuck = mark?.bytesWritten === bytesWritten
      if (isStuck && nowMs - mark.sinceMs >= sendTimeoutMs) {
        cut(socket, 'unread')
        continue
      }
      marks.set(socket, isStuck ? mark : { bytesWritten, sinceMs: nowMs })
      unsentBytes += unsent
    }
    if (unsentBytes <= unsentBytesMax) return
    const longestFirst = [...marks].sort(([, one], [, other]) => one.sinceMs - other.sinceMs)
    for (const [socket] of longestFirst) {
      if (unsentBytes <= unsentBytesMax) break
      unsentBytes -= unsentOn(socket)
      cut(socket, 'unsent')
    }
  }

  const timer = setInterval(look, Math.min(LOOK_EVERY_MS, sendTimeoutMs))
  timer.unref()
  return () => clearInterval(timer)
}

/** The characters or bytes that wait to be sent on a connection. */
function unsentOn(socket: Socket): number {
  return socket.writableLength + (heldBytes.get(socket) ?? 0)
}
