import { STATUS_CODES } from 'node:http'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { AppError, type ErrorCode, type ErrorDetails, meaningOf, writeOutcomeOf } from '../../errors.ts'
import { type HeaderList, isClientGone, sendJson } from './responses.ts'

/** Methods that store nothing, so that their failures have no outcome. */
const READING_METHODS = ['GET', 'HEAD', 'OPTIONS']

/** The only place that sends failures: an AppError as it is, anything else as 50001 with its cause in the log. */
export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const failure = recordFailure(error, request)
  if (reply.raw.headersSent) return
  const fields: HeaderList = []
  for (const [name, value] of Object.entries(failure.headers)) fields.push(name, value)
  const { retryAfterSeconds } = meaningOf(failure.code)
  // A failure may have a better estimate.
  if (retryAfterSeconds !== undefined && !('retry-after' in failure.headers))
    fields.push('retry-after', String(retryAfterSeconds))
  if (mustClose(failure.code, request)) fields.push('connection', 'close')
  sendJson(
    reply,
    statusOf(failure.code, request),
    errorJson(failure.code, failure.message, detailsOf(failure, request)),
    fields,
  )
}

/** Records the failure of a request for the log, and returns it as it is sent. */
export function recordFailure(error: unknown, request: FastifyRequest): AppError {
  const failure = error instanceof AppError ? error : new AppError(50001, undefined, { cause: error })
  // A client that went away is no failure of the request.
  if (failure.code !== 40000 || !isClientGone(request)) request.failure = failure
  return failure
}

/** An error of Fastify from before routing: a target that it cannot decode. */
export function appErrorOf(error: FastifyError): AppError {
  if (error.code === 'FST_ERR_BAD_URL') {
    return new AppError(40004, 'The request target must be a path in percent-encoded UTF-8.')
  }
  return new AppError(50001, undefined, { cause: error })
}

/** A whole response as text, for a connection without a request to respond to, with one more field if given. */
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
    // Only CONNECT is rejected here with 405: its target supports no method at all (RFC 9110 §10.2.1).
    ...(status === 405 ? ['allow: '] : []),
    '',
    body,
  ].join('\r\n')
}

function errorJson(code: ErrorCode, message: string, details?: ErrorDetails): string {
  return JSON.stringify({ error: code, message, details })
}

/** The details of a failure; of a write that failed with 5xx they always have the outcome. */
function detailsOf(failure: AppError, { method }: FastifyRequest): ErrorDetails | undefined {
  const { code, details } = failure
  if (READING_METHODS.includes(method)) {
    if (details?.outcome === undefined) return details
    const { outcome: _, ...others } = details
    return Object.keys(others).length === 0 ? undefined : others
  }
  if (meaningOf(code).status < 500 || details?.outcome !== undefined) return details
  return { ...details, outcome: writeOutcomeOf(failure) }
}

/** Where the route says so, faults of the request itself have status 400 (rule 4 of the specification). */
function statusOf(code: ErrorCode, request: FastifyRequest): number {
  const { status, rejection } = meaningOf(code)
  return rejection && request.routeOptions.config.rejectionsAre400 ? 400 : status
}

function mustClose(code: ErrorCode, request: FastifyRequest): boolean {
  // A body that does not arrive would hold the connection. A client that waits for "100 Continue" may send its body
  // or not, so the next bytes on the connection are ambiguous.
  return code === 40000 || code === 40801 || (request.headers.expect !== undefined && !request.raw.complete)
}
