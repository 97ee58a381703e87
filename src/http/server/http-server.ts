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

/** Limit of the request line and header fields together. */
export const HEADER_BYTES_MAX = 16 * 1024

/** How often connections are checked for timeouts; a slow one may live this much longer than its limit. */
const TIMEOUT_CHECK_INTERVAL_MS = 1_000

/** How long a connection is read after its last response: closing at once may lose it (RFC 9112 §9.6). */
const LINGER_MS = 1_000

/** The response to bytes that are not a complete request. */
interface UnreadableResponse {
  code: ErrorCode
  requestId: string
  /** The peer of the connection: a proxy, if there is one. */
  address: string | undefined
  /** The request, if only its body is incomplete. */
  request: IncomingMessage | undefined
}

export type RecordUnreadable = (response: UnreadableResponse) => void

export interface ServerLimits {
  headersTimeoutMs: number
  requestTimeoutMs: number
  keepAliveTimeoutMs: number
  /** How long a client may read nothing of its response. */
  sendTimeoutMs: number
}

export interface HttpServerOptions {
  limits: ServerLimits
  /** The certificate for TLS; plain HTTP without it. */
  tls?: ServerTls | undefined
  recordUnreadable?: RecordUnreadable | undefined
  onDropped?: OnDropped
  /** Called for each new connection; may close it. */
  limitConnection?(socket: Socket): void
}

/**
 * Creates a server for HTTP/1.1. Pipelined requests run one after another unless all of them only read (RFC 9112
 * §9.3.2). No request runs after a response that closes the connection. The response to bytes that are not HTTP follows
 * those to earlier requests, and has an Error body.
 */
export function createHttpServer(
  listener: RequestListener,
  { limits, tls, recordUnreadable = () => {}, onDropped = () => {}, limitConnection }: HttpServerOptions,
): Server {
  const options: ServerOptions = {
    maxHeaderSize: HEADER_BYTES_MAX,
    // They are part of the request: Node does not accept a longer time for them.
    headersTimeout: Math.min(limits.headersTimeoutMs, limits.requestTimeoutMs),
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS,
    // Node would respond to a missing Host field without a body, and ignore a second Host field. `guard-routes.ts`
    // checks both.
    requireHostHeader: false,
    joinDuplicateHeaders: true,
  }
  const server = tls === undefined ? createServer(options) : createTlsServer(options, tls)
  // A client may close its side after its last request and wait for the response. Node would close the connection.
  Object.assign(server, { httpAllowHalfOpen: true })
  if (limitConnection !== undefined) server.on('connection', limitConnection)
  const sockets = openSockets(server)
  keepUnsentResponses(server, sockets)
  server.once('close', dropSlowReaders({ sockets, sendTimeoutMs: limits.sendTimeoutMs, onDropped }))
  const order = { listener, runLater: createEventLoopSlices().runLater }
  const receive: RequestListener = (request, response) => {
    // No upgrade is supported, so the request is served as it is. The parser drops the bytes after it in the same
    // segment: the connection would be out of step.
    if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false
    runInOrder(request, response, order)
  }
  server.on('request', receive)
  // `askForBody` sends 100 Continue. An unknown expectation may be ignored (RFC 9110 §10.1.1).
  server.on('checkContinue', receive)
  server.on('checkExpectation', receive)
  server.on('connect', (_request, socket) => {
    rejectUnreadable(socket, 40501, recordUnreadable, 'CONNECT is not supported.')
  })
  return server
}

function openSockets(server: Server): ReadonlySet<Socket> {
  const sockets = new Set<Socket>()
  const add = (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  }
  server.on('connection', add)
  server.on('secureConnection', add)
  return sockets
}

/**
 * Node considers a connection idle as soon as its response is written, and would drop it with half of a long response
 * unsent. So `closeIdleConnections` closes none while a response is being sent; callers retry.
 */
function keepUnsentResponses(server: Server, sockets: ReadonlySet<Socket>): void {
  const closeIdleConnections = server.closeIdleConnections.bind(server)
  server.closeIdleConnections = () => {
    for (const socket of sockets) {
      const response = latestPipelinedRequests(socket)[0]?.response
      if (response?.writableEnded && !response.closed) return
    }
    closeIdleConnections()
  }
}

/** For `clientErrorHandler`: responds to malformed or late bytes, and closes the connection. */
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
      // Node reports this once per request, and does nothing else about it.
      if (mayTakeLong(socket)) break
      // Without a byte of a request there is nothing to respond to.
      if ((socket as Socket).bytesRead === 0) socket.destroy()
      else rejectUnreadable(socket, 40801, recordUnreadable)
      break
    case 'HPE_HEADER_OVERFLOW':
      rejectUnreadable(
        socket,
        43101,
        recordUnreadable,
        `The header fields are larger than ${HEADER_BYTES_MAX} bytes, the limit.`,
      )
      break
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      rejectUnreadable(socket, 41301, recordUnreadable, 'The chunk extensions are too large.')
      break
    case 'HPE_INVALID_URL':
      rejectUnreadable(
        socket,
        40000,
        recordUnreadable,
        'The request target must be a path in percent-encoded UTF-8: × is %C3%97.',
      )
      break
    case 'HPE_INVALID_CONSTANT':
      rejectUnreadable(
        socket,
        40000,
        recordUnreadable,
        'The request line must end in HTTP/1.1. A space in the target is %20.',
      )
      break
    default:
      rejectUnreadable(socket, 40000, recordUnreadable)
  }
}

function rejectUnreadable(
  socket: Duplex,
  code: ErrorCode,
  recordUnreadable: RecordUnreadable,
  message?: string,
): void {
  const respond = (request?: IncomingMessage) => {
    const requestId = generateRequestId()
    if (socket.writable) {
      recordUnreadable({ code, requestId, address: (socket as Socket).remoteAddress, request })
    }
    writeLast(socket, rawErrorResponse(code, requestId, message, transportSecurityFields(socket)))
  }
  const [latest, before] = latestPipelinedRequests(socket)
  if (latest === undefined) {
    respond()
  } else if (!latest.request.complete && latest.response.headersSent) {
    // The request has its response already.
    writeLast(socket, '')
  } else if (latest.response.closed) {
    respond()
  } else if (latest.request.complete) {
    // The malformed bytes follow a complete request, which gets its own response first.
    latest.response.once('close', () => respond())
  } else if (before !== undefined) {
    before.response.once('close', () => respond(latest.request))
  } else {
    respond(latest.request)
  }
}

function writeLast(socket: Duplex, response: string): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  socket.end(response)
  socket.on('data', () => {})
  socket.on('error', () => socket.destroy())
  socket.resume()
  const linger = setTimeout(() => socket.destroy(), LINGER_MS)
  linger.unref()
  socket.once('close', () => clearTimeout(linger))
}
