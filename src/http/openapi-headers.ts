/** The header fields of responses, as the OpenAPI document describes them. */
export const HEADERS = {
  'X-Request-Id': {
    description: 'The id of this request in the log: its own X-Request-Id, or a generated one',
    schema: { type: 'string' },
  },
  'X-Content-Type-Options': {
    description: 'Browsers must not guess another media type',
    schema: { type: 'string', const: 'nosniff' },
  },
  ETag: {
    description: 'The version of the plant, for If-Match and If-None-Match',
    schema: { type: 'string' },
  },
  Location: { description: 'The path of the plant', schema: { type: 'string' } },
  Link: {
    description:
      'The next page, `rel="next"` (RFC 8288), as an absolute URL if the base URL is set; absent on the last page',
    schema: { type: 'string' },
  },
  'Retry-After': { description: 'Seconds to wait before a retry', schema: { type: 'integer' } },
  RateLimit: {
    description: 'The remaining requests of the token (`r`) for the next `t` seconds, if there is a limit',
    schema: { type: 'string', examples: ['"plants:read";r=57;t=1'] },
  },
  'RateLimit-Policy': {
    description: 'The quota: requests (`q`) in a window of seconds (`w`), if there is a limit',
    schema: { type: 'string', examples: ['"plants:read";q=100;w=1'] },
  },
  'WWW-Authenticate': {
    description: 'What is wrong with the token (RFC 6750)',
    schema: { type: 'string' },
  },
}

export type HeaderName = keyof typeof HEADERS

/** Header fields of the responses to a token with a rate limit. */
export const HEADERS_OF_LIMITED_RESPONSES: readonly HeaderName[] = ['RateLimit', 'RateLimit-Policy']
/** Header fields that `responses.ts` sets on every response. */
export const HEADERS_OF_EVERY_RESPONSE: readonly HeaderName[] = ['X-Request-Id', 'X-Content-Type-Options']
