import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
} from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { ErrorCode } from '../../errors.ts'
import { createEventLoopSlices } from '../../load/event-loop-slices.ts'
import type { OnDropped } from '../connections/dropped-connections.ts'
import { createTlsServer, type ServerTls } from '../connections/server-tls.ts'
import { dropSlowReaders } from '../connections/slow-readers.ts'
import { generateRequestId } from '../request/request-id.ts'
import { rawErrorResponse } from '../response/error-responses.ts'
import { transportSecurityFields } from '../response/responses.ts'
import { latestPipelinedRequests, mayTakeLong, runInOrder } from './pipelining.ts'

/** Request line and header fields of a request, all together. */
export const HEADER_BYTES_MAX = 16 * 1024

/**
 * How often connections are looked at for time-outs: a slow one lives this much longer than its limit at
 * most.
 */
const TIMEOUT_CHECK_INTERVAL_MS = 1_000

/**
 * How long a broken connection is read on after its answer: closing at once may take the answer along (RFC
 * 9112 §9.6).
 */
const LINGER_MS = 1_000

/** An answer to bytes that made no request, or not a whole one. */
interface UnreadableResponse {
  code: ErrorCode
  requestId: string
  /** Who sent them: a proxy, where there is one. */
  address: string | undefined
  /** The request, where only its body is not whole. */
  request: IncomingMessage | undefined
}

export type RecordUnreadable = (answer: UnreadableResponse) => void

export interface ServerLimits {
  headersTimeoutMs: number
  requestTimeoutMs: number
  keepAliveTimeoutMs: number
  /** How long the client of an answer may read nothing of it. */
  sendTimeoutMs: number
}

export interface ServerParts {
  limits: ServerLimits
  /** What TLS is spoken with; plain HTTP without it. */
  tls?: ServerTls | undefined
  recordUnreadable?: RecordUnreadable | undefined
  onDropped?: OnDropped
  /** Takes each new connection, and closes what is one too many. */
  limitConnection?(socket: Socket): void
}

/**
 * A server for HTTP/1.1 that keeps a connection in order: requests that a client pipelines run one after
 * another unless all only read (RFC 9112 §9.3.2), nothing is executed behind an answer that closes, and bytes
 * that are no HTTP are answered after whatever came before them, with an Error body.
 */
export function createHttpServer(
  listener: RequestListener,
  { limits, tls, recordUnreadable = () => {}, onDropped = () => {}, limitConnection }: ServerParts,
): Server {
  const options: ServerOptions = {
    maxHeaderSize: HEADER_BYTES_MAX,
    // They are a part of the request: Node refuses a longer time for them.
    headersTimeout: Math.min(limits.headersTimeoutMs, limits.requestTimeoutMs),
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS,
    // Both would be answered by Node itself, without a body or by silently taking the first: `route-rules.ts`
    // judges.
    requireHostHeader: false,
    joinDuplicateHeaders: true,
  }
  const server = tls === undefined ? createServer(options) : createTlsServer(options, tls)
  // A client may close its side behind its last request and still wants the answer; Node would hang up on it.
  Object.assign(server, { httpAllowHalfOpen: true })
  if (limitConnection !== undefined) server.on('connection', limitConnection)
  const sockets = openSockets(server)
  keepUnsentAnswers(server, sockets)
  server.once('close', dropSlowReaders({ sockets, sendTimeoutMs: limits.sendTimeoutMs, onDropped }))
  const order = { listener, runLater: createEventLoopSlices().runLater }
  const receive: RequestListener = (request, response) => runInOrder(request, response, order)
  server.on('request', receive)
  // The body is asked for when it is wanted (`readBody`); an expectation that nobody knows may be ignored
  // (RFC 9110 §10.1.1).
  server.on('checkContinue', receive)
  server.on('checkExpectation', receive)
  server.on('connect', (_request, socket) => {
    answerBroken(socket, 40501, recordUnreadable, 'CONNECT is not offered here.')
  })
  return server
}

function openSockets(server: Server): ReadonlySet<Socket> {
  const sockets = new Set<Socket>()
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  }
  server.on('connection', keep)
  server.on('secureConnection', keep)
  return sockets
}

/**
 * Node takes a connection for idle as soon as its answer is handed over, and cuts it off with half of a long
 * one unsent. Here nothing is closed as idle while an answer is still being sent; whoever wants them closed
 * asks again.
 */
function keepUnsentAnswers(server: Server, sockets: ReadonlySet<Socket>): void {
  const closeIdleConnections = server.closeIdleConnections.bind(server)
  server.closeIdleConnections = () => {
    for (const socket of sockets) {
      const response = latestPipelinedRequests(socket)[0]?.response
      if (response?.writableEnded && !response.closed) return
    }
    closeIdleConnections()
  }
}

/**
 * For `clientErrorHandler`: answers what the parser refused, or what did not arrive in time, and ends the
 * connection.
 */
export function sendClientError(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  recordUnreadable: RecordUnreadable = () => {},
): void {
  switch (error.code) {
    case 'ECONNRESET':
    case 'EPIPE':
      socket.destroy()
      break
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      // Told once for each request, and Node itself does nothing more about it.
      if (mayTakeLong(socket)) break
      // A connection on which nothing was ever asked is owed no answer.
      if ((socket as Socket).bytesRead === 0) socket.destroy()
      else answerBroken(socket, 40801, recordUnreadable)
      break
    case 'HPE_HEADER_OVERFLOW':
      answerBroken(
        socket,
        43101,
        recordUnreadable,
        `The header fields are larger than ${HEADER_BYTES_MAX} bytes in all.`,
      )
      break
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      answerBroken(socket, 41301, recordUnreadable, 'The chunk extensions are too large.')
      break
    default:
      answerBroken(socket, 40000, recordUnreadable)
  }
}

function answerBroken(socket: Duplex, code: ErrorCode, note: RecordUnreadable, message?: string): void {
  const answer = (request?: IncomingMessage) => {
    const requestId = generateRequestId()
    if (socket.writable) note({ code, requestId, address: (socket as Socket).remoteAddress, request })
    writeLast(socket, rawErrorResponse(code, requestId, message, transportSecurityFields(socket)))
  }
  const [latest, before] = latestPipelinedRequests(socket)
  if (latest === undefined) {
    answer()
  } else if (!latest.request.complete && latest.response.headersSent) {
    // The request was answered before its body broke off; there is nothing more to say.
    writeLast(socket, '')
  } else if (latest.response.closed) {
    answer()
  } else if (latest.request.complete) {
    // The fault lies behind a whole request, which keeps its own answer.
    latest.response.once('close', () => answer())
  } else if (before !== undefined) {
    before.response.once('close', () => answer(latest.request))
  } else {
    answer(latest.request)
  }
}

function writeLast(socket: Duplex, answer: string): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  socket.end(answer)
  socket.on('data', () => {})
  socket.on('error', () => socket.destroy())
  socket.resume()
  const linger = setTimeout(() => socket.destroy(), LINGER_MS)
  linger.unref()
  socket.once('close', () => clearTimeout(linger))
}
