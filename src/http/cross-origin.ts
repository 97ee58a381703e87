import type { FastifyReply, FastifyRequest } from 'fastify'
import { type HeaderList, sendEmpty } from './response/responses.ts'

/** How long a browser may cache the response to a preflight: a changed setting takes effect after that. */
const PREFLIGHT_SECONDS = 600

/** Request header fields that the service reads, beyond those that the Fetch standard always allows. */
const REQUEST_FIELDS = [
  'Accept',
  'Authorization',
  'Content-Encoding',
  'Content-Type',
  'Idempotency-Key',
  'If-Match',
  'If-None-Match',
  'Prefer',
  'Traceparent',
  'Tracestate',
  'X-Request-Id',
].join(', ')

/** Response header fields that scripts may read, beyond those that the Fetch standard always allows. */
const RESPONSE_FIELDS = [
  'Allow',
  'ETag',
  'Link',
  'Location',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Server-Timing',
  'Traceresponse',
  'WWW-Authenticate',
  'X-Request-Id',
].join(', ')

/** Access for scripts of other origins (Fetch standard, "CORS protocol"). */
export interface CrossOrigin {
  /** Adds the header fields of CORS to the response of a request, whatever its status. */
  mark(request: FastifyRequest): void
  /**
   * Responds to a preflight of an allowed origin, and returns whether the request was one. Browsers send no token with
   * it, so it must be called before any check.
   */
  sendPreflight(request: FastifyRequest, reply: FastifyReply, methods: string): boolean
}

/**
 * Allows scripts of these origins; `*` is any. The service uses no cookies, so a script can do no more than the token
 * that it has.
 */
export function createCrossOrigin(origins: readonly string[]): CrossOrigin {
  const isAny = origins.includes('*')
  const vary: HeaderList = isAny ? [] : ['vary', 'origin']
  const isAllowed = (origin: string | undefined): origin is string =>
    origin !== undefined && (isAny || origins.includes(origin))

  return {
    mark(request) {
      const { origin } = request.headers
      request.responseFields ??= []
      request.responseFields.push(...vary)
      if (!isAllowed(origin)) return
      request.responseFields.push('access-control-allow-origin', isAny ? '*' : origin)
      request.responseFields.push('access-control-expose-headers', RESPONSE_FIELDS)
    },

    sendPreflight({ method, headers }, reply, methods) {
      if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return false
      if (!isAllowed(headers.origin)) return false
      sendEmpty(reply, 204, [
        'access-control-allow-methods',
        methods,
        'access-control-allow-headers',
        REQUEST_FIELDS,
        'access-control-max-age',
        String(PREFLIGHT_SECONDS),
      ])
      return true
    },
  }
}
