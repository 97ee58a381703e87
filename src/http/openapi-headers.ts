/** The header fields of answers, as the served document tells them. */
export const HEADERS = {
  'X-Request-Id': {
    description: 'Names this request in the log: the X-Request-Id of the request, or one made for it',
    schema: { type: 'string' },
  },
  'X-Content-Type-Options': {
    description: 'Browsers are not to guess another media type',
    schema: { type: 'string', const: 'nosniff' },
  },
  ETag: {
    description: 'The version of the plant, for If-Match and If-None-Match',
    schema: { type: 'string' },
  },
  Location: { description: 'The path at which the plant is read', schema: { type: 'string' } },
  Link: {
    description: 'The next page, `rel="next"` (RFC 8288); absent on the last one',
    schema: { type: 'string' },
  },
  'Retry-After': { description: 'Seconds after which to try again', schema: { type: 'integer' } },
  RateLimit: {
    description:
      'What the token may still do: requests, and the seconds for which they must do; where there is a limit',
    schema: { type: 'string', examples: ['"plants:read";r=57;t=1'] },
  },
  'RateLimit-Policy': {
    description: 'The limit: requests, and the seconds in which they may be made; where there is a limit',
    schema: { type: 'string', examples: ['"plants:read";q=100;w=1'] },
  },
  'WWW-Authenticate': {
    description: 'What is wrong with the token (RFC 6750)',
    schema: { type: 'string' },
  },
}

export type HeaderName = keyof typeof HEADERS

/** What an answer has while there is a limit on its token. */
export const HEADERS_OF_LIMITED_RESPONSES: readonly HeaderName[] = ['RateLimit', 'RateLimit-Policy']
/** What `answers.ts` gives every answer. */
export const HEADERS_OF_EVERY_RESPONSE: readonly HeaderName[] = ['X-Request-Id', 'X-Content-Type-Options']
