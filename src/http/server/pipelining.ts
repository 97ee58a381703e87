import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { EventLoopSlices } from '../../load/event-loop-slices.ts'
import { isClientConnected, isLongRequest } from '../request/request-state.ts'

/** Requests that may be queued on one connection; a client that sends more is dropped. */
const QUEUED_REQUESTS_MAX = 1_000

/**
 * Reads of one connection that run concurrently. Their responses wait in memory for the earlier ones, and a page of
 * plants may have 12 MB.
 */
const CONCURRENT_READS_MAX = 8

/** A request with its response. */
export interface PipelinedRequest {
  request: IncomingMessage
  response: ServerResponse
}

interface Connection {
  /** Started requests, in order. Finished ones at the front are removed by `removeFinished`. */
  running: PipelinedRequest[]
  /** Requests that have not started, in order. */
  queued: PipelinedRequest[]
}

const connections = new WeakMap<Duplex, Connection>()

export interface OrderOptions {
  listener: RequestListener
  runLater: EventLoopSlices['runLater']
}

/**
 * Runs a request after the earlier ones of its connection, or concurrently if all of them only read (RFC 9112 §9.3.2).
 * A request is finished when its response has been passed to the operating system. Pipelined reads run in a later slice
 * of the event loop, so that a client with many of them does not delay the others.
 */
export function runInOrder(
  request: IncomingMessage,
  response: ServerResponse,
  { listener, runLater }: OrderOptions,
): void {
  const { socket } = request
  const pipelined = { request, response }
  const connection = connections.get(socket)
  if (connection === undefined) {
    connections.set(socket, { running: [pipelined], queued: [] })
    listener(request, response)
    return
  }
  // The connection is closing: later requests are not executed.
  if (!socket.writable) return
  removeFinished(connection)
  const { running, queued } = connection
  if (queued.length === 0 && mayRun(pipelined, running)) {
    const isFirst = running.length === 0
    running.push(pipelined)
    if (isFirst) listener(request, response)
    else runLater(() => runUnlessClosed(pipelined, listener))
    return
  }
  if (queued.length >= QUEUED_REQUESTS_MAX) {
    socket.destroy()
    return
  }
  queued.push(pipelined)
  if (queued.length === 1) runQueuedLater(connection, { listener, runLater })
}

/** When the first running request is finished, runs the queued requests that may run then. */
function runQueuedLater(connection: Connection, options: OrderOptions): void {
  const { running, queued } = connection
  const { listener, runLater } = options
  running[0]?.response.once('close', () => {
    removeFinished(connection)
    for (let next = queued[0]; next !== undefined && mayRun(next, running); next = queued[0]) {
      queued.shift()
      running.push(next)
      const pipelined = next
      if (isSafe(next.request)) runLater(() => runUnlessClosed(pipelined, listener))
      else runUnlessClosed(next, listener)
    }
    if (queued.length > 0) runQueuedLater(connection, options)
  })
}

function runUnlessClosed({ request, response }: PipelinedRequest, listener: RequestListener): void {
  if (isClientConnected(request)) listener(request, response)
}

function removeFinished({ running }: Connection): void {
  // `closed`: a response that closes the connection is `finished` before the connection is closed.
  while (running[0]?.response.closed) running.shift()
}

function mayRun({ request }: PipelinedRequest, running: readonly PipelinedRequest[]): boolean {
  const [first] = running
  if (first === undefined) return true
  // The other running requests read as well: a write runs alone.
  return running.length < CONCURRENT_READS_MAX && isSafe(first.request) && isSafe(request)
}

function isSafe({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** The last request of a connection, and the previous one if it is not finished. */
export function latestPipelinedRequests(
  socket: Duplex,
): [latest?: PipelinedRequest | undefined, before?: PipelinedRequest | undefined] {
  const connection = connections.get(socket)
  if (connection === undefined) return []
  const { running, queued } = connection
  const latest = queued.at(-1) ?? running.at(-1)
  const before = queued.at(-2) ?? (queued.length === 1 ? running.at(-1) : running.at(-2))
  return [latest, before?.response.closed ? undefined : before]
}

/** Whether the request that is arriving on a connection is exempt from the time limit for a whole request. */
export function mayTakeLong(socket: Duplex): boolean {
  const [latest] = latestPipelinedRequests(socket)
  return latest !== undefined && !latest.request.complete && isLongRequest(latest.request)
}
