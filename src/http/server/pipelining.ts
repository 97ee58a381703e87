import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { EventLoopSlices } from '../../load/event-loop-slices.ts'
import { isClientConnected, isLongRequest } from '../request/request-state.ts'

/** Requests that may wait on one connection for those before them; a client that sends more is cut off. */
const WAITING_REQUESTS_MAX = 1_000

/**
 * Requests that run side by side on one connection, reads all of them: an answer that is still to be sent is held in
 * memory, and a page of plants may be 12 MB.
 */
const READS_AT_ONCE_MAX = 8

/** A request with its answer. */
export interface PipelinedRequest {
  request: IncomingMessage
  response: ServerResponse
}

interface Connection {
  /** What was begun, in order. Of those in front some may be over: they are dropped when somebody looks. */
  running: PipelinedRequest[]
  /** What is yet to begin, in order. */
  waiting: PipelinedRequest[]
}

const connections = new WeakMap<Duplex, Connection>()

export interface OrderOptions {
  listener: RequestListener
  runLater: EventLoopSlices['runLater']
}

/**
 * Runs a request behind those that came before it on its connection, unless all of them only read (RFC 9112
 * §9.3.2). An exchange is over when its answer has been handed to the operating system. Reads behind others are run
 * later, so that those who ask for much at once do not keep everybody else waiting.
 */
export function runInOrder(
  request: IncomingMessage,
  response: ServerResponse,
  { listener, runLater }: OrderOptions,
): void {
  const { socket } = request
  const exchange = { request, response }
  const connection = connections.get(socket)
  if (connection === undefined) {
    connections.set(socket, { running: [exchange], waiting: [] })
    listener(request, response)
    return
  }
  // Closing, and not yet closed: what still comes in is not executed.
  if (!socket.writable) return
  dropOver(connection)
  const { running, waiting } = connection
  if (waiting.length === 0 && mayRun(exchange, running)) {
    const isFirst = running.length === 0
    running.push(exchange)
    if (isFirst) listener(request, response)
    else runLater(() => runUnlessClosed(exchange, listener))
    return
  }
  if (waiting.length >= WAITING_REQUESTS_MAX) {
    socket.destroy()
    return
  }
  waiting.push(exchange)
  if (waiting.length === 1) runWaitingLater(connection, { listener, runLater })
}

/** When the first of those that run is over, the others being answered behind it, runs what may then run. */
function runWaitingLater(connection: Connection, parts: OrderOptions): void {
  const { running, waiting } = connection
  const { listener, runLater } = parts
  running[0]?.response.once('close', () => {
    dropOver(connection)
    for (let next = waiting[0]; next !== undefined && mayRun(next, running); next = waiting[0]) {
      waiting.shift()
      running.push(next)
      const exchange = next
      if (isSafe(next.request)) runLater(() => runUnlessClosed(exchange, listener))
      else runUnlessClosed(next, listener)
    }
    if (waiting.length > 0) runWaitingLater(connection, parts)
  })
}

function runUnlessClosed({ request, response }: PipelinedRequest, listener: RequestListener): void {
  if (isClientConnected(request)) listener(request, response)
}

function dropOver({ running }: Connection): void {
  // `closed`, as an answer that ends the connection is finished before it has done so.
  while (running[0]?.response.closed) running.shift()
}

function mayRun({ request }: PipelinedRequest, running: readonly PipelinedRequest[]): boolean {
  const [first] = running
  if (first === undefined) return true
  // The others read as well, or they would not be running.
  return running.length < READS_AT_ONCE_MAX && isSafe(first.request) && isSafe(request)
}

function isSafe({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** The last exchange of a connection, and the one before it if that is not over. */
export function latestPipelinedRequests(
  socket: Duplex,
): [latest?: PipelinedRequest | undefined, before?: PipelinedRequest | undefined] {
  const connection = connections.get(socket)
  if (connection === undefined) return []
  const { running, waiting } = connection
  const latest = waiting.at(-1) ?? running.at(-1)
  const before = waiting.at(-2) ?? (waiting.length === 1 ? running.at(-1) : running.at(-2))
  return [latest, before?.response.closed ? undefined : before]
}

/**
 * Whether what is awaited on a connection is exempt from the limits of time: the rest of a request that is. Once that
 * is whole, what comes is the next request.
 */
export function mayTakeLong(socket: Duplex): boolean {
  const [latest] = latestPipelinedRequests(socket)
  return latest !== undefined && !latest.request.complete && isLongRequest(latest.request)
}
