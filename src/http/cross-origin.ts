import type { FastifyReply, FastifyRequest } from 'fastify'
import { type HeaderList, sendEmpty } from './response/responses.ts'

/** How long a browser may go by the answer to a preflight: a setting that is changed holds after that at last. */
const PREFLIGHT_SECONDS = 600

/** Fields of requests that mean something here, beside those that need no leave. */
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

/** Fields of answers that a script of another origin may read, beside those that need no leave. */
const ANSWER_FIELDS = [
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

/** What scripts of pages from elsewhere may do (Fetch standard, "CORS protocol"). */
export interface CrossOrigin {
  /** Gives a request what its answer has to tell the browser, whatever the answer is, a refusal as well. */
  mark(request: FastifyRequest): void
  /**
   * Answers a preflight of an allowed origin, and says whether it was one: a browser sends no token with it, so
   * that it is to be asked before anything is judged.
   */
  sendPreflight(request: FastifyRequest, reply: FastifyReply, methods: string): boolean
}

/**
 * Lets in scripts of these origins; `*` stands for any. No cookie is ever asked for, so that a script can do no
 * more than the token that it was given.
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
      request.responseFields.push('access-control-expose-headers', ANSWER_FIELDS)
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
