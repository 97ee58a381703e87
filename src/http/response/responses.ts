import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { CHUNK_BYTES_MAX, endWithLong } from '../connections/slow-readers.ts'
import { serverTimingOf } from '../request/request-stages.ts'

/** Header fields as Node takes them fastest: name, value, name, value. */
export type HeaderList = string[]

declare module 'fastify' {
  interface FastifyInstance {
    /** Records a request that ended, with or without a response; does nothing the second time. */
    recordRequest(request: FastifyRequest, reply: FastifyReply): void
  }
}

/**
 * Sends JSON text, without Fastify's serialisation, which costs as much as the rest of a small response. `fields` are
 * header fields beyond those of every response.
 */
export function sendJson(reply: FastifyReply, status: number, json: string, fields: HeaderList = []): void {
  sendBody(reply, status, 'application/json; charset=utf-8', json, fields)
}

/** Sends a body of this media type; the response to HEAD has the same header fields and no body. */
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

/** Sends a response without a body: 204, 304. */
export function sendEmpty(reply: FastifyReply, status: 204 | 304, fields: HeaderList = []): void {
  writeHead(reply, status, fields)
  reply.raw.end()
}

/**
 * Writes the head of a response, without Fastify: `fields`, those of every response, and the `responseFields` of the
 * request. Without a `cache-control` of its own a response must not be cached, as it may contain plants. Sends nothing
 * to a client that is gone.
 */
export function writeHead(reply: FastifyReply, status: number, fields: HeaderList): void {
  const { request, raw } = reply
  reply.hijack()
  request.stages?.leave()
  if (isClientGone(request)) {
    // Fastify calls `onResponse` only after a response was sent.
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

/** Records a request whose response is aborted: for long responses, as Fastify does not report these. */
export function notifyWhenDropped(reply: FastifyReply): void {
  const { request, raw, server } = reply
  raw.once('close', () => {
    if (!raw.writableFinished) server.recordRequest(request, reply)
  })
}

/** Whether the connection of a request is closed, so that no response can be sent. */
export function isClientGone({ raw }: FastifyRequest): boolean {
  return raw.socket.destroyed
}

/**
 * How long browsers use only TLS for this host after a visit over TLS: a year, as usual. `includeSubDomains` is absent,
 * as subdomains may belong to other services.
 */
const STRICT_TRANSPORT_SECONDS = 31_536_000

const STRICT_TRANSPORT = ['strict-transport-security', `max-age=${STRICT_TRANSPORT_SECONDS}`]
const NONE: string[] = []

/**
 * The field Strict-Transport-Security (RFC 6797 §7.2) if the service itself speaks TLS. A proxy in front must set its
 * own.
 */
export function transportSecurityFields(socket: Duplex): string[] {
  return (socket as Partial<TLSSocket>).encrypted ? STRICT_TRANSPORT : NONE
}
