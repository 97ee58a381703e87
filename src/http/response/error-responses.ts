import { STATUS_CODES } from 'node:http'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { AppError, type ErrorCode, meaningOf } from '../../errors.ts'
import { type HeaderList, isClientGone, sendJson } from './responses.ts'

/** An error as every failed request is answered. */
export const ErrorSchema = {
  type: 'object',
  required: ['error', 'message'],
  properties: {
    error: { type: 'integer', format: 'int32', description: 'Numeric error code' },
    message: { type: 'string', description: 'Error message text' },
  },
} as const

/**
 * The one place that answers failures: an AppError as it says, anything else as 50001, its cause in the log
 * only.
 */
export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const failure = recordFailure(error, request)
  if (reply.raw.headersSent) return
  const fields: HeaderList = []
  for (const [name, value] of Object.entries(failure.headers)) fields.push(name, value)
  const { retryAfterSeconds } = meaningOf(failure.code)
  // A failure may know better how long it takes.
  if (retryAfterSeconds !== undefined && !('retry-after' in failure.headers))
    fields.push('retry-after', String(retryAfterSeconds))
  if (mustClose(failure.code, request)) fields.push('connection', 'close')
  sendJson(reply, statusOf(failure.code, request), errorJson(failure.code, failure.message), fields)
}

/** Notes what a request has failed with, and gives it as it is answered. */
export function recordFailure(error: unknown, request: FastifyRequest): AppError {
  const failure = error instanceof AppError ? error : new AppError(50001, undefined, { cause: error })
  // Of a client that went away there is nothing to say.
  if (failure.code !== 40000 || !isClientGone(request)) request.failure = failure
  return failure
}

/** What Fastify refuses before a route is found: a target that it cannot decode. */
export function appErrorOf(error: FastifyError): AppError {
  if (error.code === 'FST_ERR_BAD_URL') {
    return new AppError(40004, 'The path is not a valid percent-encoded path.')
  }
  return new AppError(50001, undefined, { cause: error })
}

/**
 * A whole answer in bytes, for a connection on which there is no request to answer, with one more field if there is one
 * to add.
 */
export function rawErrorResponse(
  code: ErrorCode,
  requestId: string,
  message: string = meaningOf(code).meaning,
  [name, value]: HeaderList = [],
): string {
  const { status } = meaningOf(code)
  const body = errorJson(code, message)
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'x-content-type-options: nosniff',
    ...(name === undefined ? [] : [`${name}: ${value}`]),
    `x-request-id: ${requestId}`,
    `date: ${new Date().toUTCString()}`,
    'connection: close',
    // Only CONNECT is refused here with 405: what it names takes no method at all (RFC 9110 §10.2.1).
    ...(status === 405 ? ['allow: '] : []),
    '',
    body,
  ].join('\r\n')
}

function errorJson(code: ErrorCode, message: string): string {
  return JSON.stringify({ error: code, message })
}

/**
 * Where a route says so, what the request itself caused is answered with 400 (the specification's rule 4).
 */
function statusOf(code: ErrorCode, request: FastifyRequest): number {
  const { status, refusal } = meaningOf(code)
  return refusal && request.routeOptions.config.rejectionsAre400 ? 400 : status
}

function mustClose(code: ErrorCode, request: FastifyRequest): boolean {
  // A body that does not come would hold the connection; and a client that waits for "100 Continue" may send its
  // body or not: what follows on the connection is anyone's guess.
  return code === 40000 || code === 40801 || (request.headers.expect !== undefined && !request.raw.complete)
}
