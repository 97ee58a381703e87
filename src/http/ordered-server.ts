import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { Duplex } from 'node:stream'
import type { ErrorCode } from '../errors.ts'
import { rawErrorAnswer } from './error-answers.ts'

/** Header fields of a request, all together. */
const HEADER_BYTES_MAX = 16 * 1024

/** How often connections are looked at for time-outs: a slow one lives this much longer than its limit at most. */
const TIMEOUT_CHECK_INTERVAL_MS = 1_000

/** How long a broken connection is read on after its answer: closing at once may take the answer along (RFC 9112 §9.6). */
const LINGER_MS = 1_000

export interface ServerLimits {
  headersTimeoutMs: number
  requestTimeoutMs: number
  keepAliveTimeoutMs: number
}

interface Exchange {
  request: IncomingMessage
  response: ServerResponse
  /** The exchange before it on the same connection, while that one is not over. */
  before: Exchange | undefined
}

/** The last exchange begun on each connection. */
const latestExchange = new WeakMap<Duplex, Exchange>()

/**
 * A server for HTTP/1.1 that keeps a connection in order: requests that a client pipelines run one after another unless
 * all only read (RFC 9112 §9.3.2), nothing is executed behind an answer that closes, and bytes that are no HTTP are
 * answered after whatever came before them, with an Error body.
 */
export function createOrderedServer(listener: RequestListener, limits: ServerLimits): Server {
  const server = createServer({
    maxHeaderSize: HEADER_BYTES_MAX,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS,
    // Both would be answered by Node itself, without a body or by silently taking the first: `refuseOddRequests` judges.
    requireHostHeader: false,
    joinDuplicateHeaders: true,
  })
  const receive: RequestListener = (request, response) => inOrder(request, response, listener)
  server.on('request', receive)
  // The body is asked for when it is wanted (`readBody`); an expectation that nobody knows may be ignored (RFC 9110 §10.1.1).
  server.on('checkContinue', receive)
  server.on('checkExpectation', receive)
  server.on('connect', (_request, socket) => {
    answerBroken(socket, 40501, 'CONNECT is not offered here.')
  })
  return server
}

function inOrder(request: IncomingMessage, response: ServerResponse, listener: RequestListener): void {
  const { socket } = request
  let before = latestExchange.get(socket)
  if (before?.response.writableFinished) before = undefined
  latestExchange.set(socket, { request, response, before })
  if (before === undefined || (isSafe(before) && isSafe({ request }))) {
    listener(request, response)
    return
  }
  before.response.once('close', () => {
    if (!socket.destroyed && socket.writable) listener(request, response)
  })
}

function isSafe({ request }: { request: IncomingMessage }): boolean {
  return request.method === 'GET' || request.method === 'HEAD'
}

/** For `clientErrorHandler`: answers what the parser refused, or what did not arrive in time, and ends the connection. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  switch (error.code) {
    case 'ECONNRESET':
    case 'EPIPE':
      socket.destroy()
      break
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      answerBroken(socket, 40801)
      break
    case 'HPE_HEADER_OVERFLOW':
      answerBroken(socket, 43101, `The header fields are larger than ${HEADER_BYTES_MAX} bytes in all.`)
      break
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      answerBroken(socket, 41301, 'The chunk extensions are too large.')
      break
    default:
      answerBroken(socket, 40000)
  }
}

function answerBroken(socket: Duplex, code: ErrorCode, message?: string): void {
  const latest = latestExchange.get(socket)
  if (latest === undefined || latest.response.writableFinished) {
    writeLast(socket, code, message)
  } else if (latest.request.complete) {
    // The fault lies behind a whole request, which keeps its own answer.
    latest.response.once('close', () => writeLast(socket, code, message))
  } else if (latest.response.headersSent) {
    // The request was answered before its body broke off; there is nothing more to say.
    socket.destroy()
  } else if (latest.before !== undefined && !latest.before.response.writableFinished) {
    latest.before.response.once('close', () => writeLast(socket, code, message))
  } else {
    writeLast(socket, code, message)
  }
}

function writeLast(socket: Duplex, code: ErrorCode, message?: string): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  socket.end(rawErrorAnswer(code, message))
  socket.on('data', () => {})
  socket.on('error', () => socket.destroy())
  socket.resume()
  const linger = setTimeout(() => socket.destroy(), LINGER_MS)
  linger.unref()
  socket.once('close', () => clearTimeout(linger))
}
