import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { CHUNK_BYTES_MAX, endWithLong } from '../connections/slow-readers.ts'
import { serverTimingOf } from '../request/request-stages.ts'

/** Header fields as Node takes them fastest: name, value, name, value. */
export type HeaderList = string[]

declare module 'fastify' {
  interface FastifyInstance {
    /** Notes that a request is over, answered or not; once noted, it does nothing. */
    recordRequest(request: FastifyRequest, reply: FastifyReply): void
  }
}

/**
 * Answers with JSON text, past Fastify's own serialisation, which costs as much as the rest of a small
 * answer. `fields` may name header fields beyond those that every answer has.
 */
export function sendJson(reply: FastifyReply, status: number, json: string, fields: HeaderList = []): void {
  sendBody(reply, status, 'application/json; charset=utf-8', json, fields)
}

/** Answers with a body of that type; HEAD gets the same header fields and no body. */
export function sendBody(
  reply: FastifyReply,
  status: number,
  mediaType: string,
  body: string | Buffer,
  fields: HeaderList = [],
): void {
  const bytes = Buffer.byteLength(body)
  writeHead(reply, status, ['content-type', mediaType, 'content-length', String(bytes), ...fields])
  if (bytes > CHUNK_BYTES_MAX && reply.request.method !== 'HEAD') {
    notifyWhenDropped(reply)
    endWithLong(reply.raw, typeof body === 'string' ? Buffer.from(body) : body)
  } else {
    reply.raw.end(body)
  }
}

/** Answers without a body: 204, 304. */
export function sendEmpty(reply: FastifyReply, status: 204 | 304, fields: HeaderList = []): void {
  writeHead(reply, status, fields)
  reply.raw.end()
}

/**
 * Writes the head of an answer, past Fastify: `fields`, those that every answer has, and those that the rules of
 * the route gave to this request. What does not say how it may be kept is kept nowhere: it may hold plants. To a client
 * that is gone nothing is sent.
 */
export function writeHead(reply: FastifyReply, status: number, fields: HeaderList): void {
  const { request, raw } = reply
  reply.hijack()
  request.stages?.leave()
  if (isClientGone(request)) {
    // Fastify tells of an answer that is sent, and of this one nobody else would.
    reply.server.recordRequest(request, reply)
    return
  }
  const all = ['x-content-type-options', 'nosniff', 'x-request-id', request.id, ...fields]
  all.push(...transportSecurityFields(request.raw.socket))
  if (!fields.includes('cache-control')) all.push('cache-control', 'no-store')
  if (request.responseFields) all.push(...request.responseFields)
  if (request.stages?.isReported) all.push('server-timing', serverTimingOf(request.stages))
  raw.writeHead(status, all)
}

/** Notes a request whose answer breaks off, which else leaves no trace: for answers that take their time to be sent. */
export function notifyWhenDropped(reply: FastifyReply): void {
  const { request, raw, server } = reply
  raw.once('close', () => {
    if (!raw.writableFinished) server.recordRequest(request, reply)
  })
}

/** Whether the connection of a request is closed, and nobody left to be answered. */
export function isClientGone({ raw }: FastifyRequest): boolean {
  return raw.socket.destroyed
}

/**
 * How long a browser that was here over TLS uses no plain HTTP for this host: a year, as is usual. Subdomains are not
 * ours to decide on, so `includeSubDomains` is absent.
 */
const STRICT_TRANSPORT_SECONDS = 31_536_000

const STRICT_TRANSPORT = ['strict-transport-security', `max-age=${STRICT_TRANSPORT_SECONDS}`]
const NONE: string[] = []

/**
 * The field Strict-Transport-Security (RFC 6797 §7.2) where the service speaks TLS itself. Behind a proxy it is the
 * proxy's to set.
 */
export function transportSecurityFields(socket: Duplex): string[] {
  return (socket as Partial<TLSSocket>).encrypted ? STRICT_TRANSPORT : NONE
}
