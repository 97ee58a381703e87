import type { FastifyReply } from 'fastify'

/** Header fields as Node takes them fastest: name, value, name, value. */
export type HeaderList = string[]

/**
 * Answers with JSON text, past Fastify's own serialisation, which costs as much as the rest of a small
 * answer. `fields` may name header fields beyond those that every answer has.
 */
export function answerJson(reply: FastifyReply, status: number, json: string, fields: HeaderList = []): void {
  answerBody(reply, status, 'application/json; charset=utf-8', json, fields)
}

/** Answers with a body of that type; HEAD gets the same header fields and no body. */
export function answerBody(
  reply: FastifyReply,
  status: number,
  mediaType: string,
  body: string | Buffer,
  fields: HeaderList = [],
): void {
  reply.hijack()
  reply.raw.writeHead(status, [
    'content-type',
    mediaType,
    'content-length',
    String(Buffer.byteLength(body)),
    'x-content-type-options',
    'nosniff',
    'x-request-id',
    reply.request.id,
    ...fields,
  ])
  reply.raw.end(body)
}

/** Answers without a body: 204, 304. */
export function answerEmpty(reply: FastifyReply, status: 204 | 304, fields: HeaderList = []): void {
  reply.hijack()
  reply.raw.writeHead(status, [
    'x-content-type-options',
    'nosniff',
    'x-request-id',
    reply.request.id,
    ...fields,
  ])
  reply.raw.end()
}
