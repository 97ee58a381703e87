/**
 * Every error code that the service answers with, its HTTP status, and what it means.
 * A code is the status that fits best × 100 + n; it is stable and never reused.
 * `refusal` marks what the request itself caused and `POST /plants` therefore answers with 400, as it was
 * specified.
 */
export const ERRORS = {
  40000: { status: 400, meaning: 'The bytes received are not valid HTTP.' },
  40001: { status: 400, meaning: 'The body is missing.' },
  40002: { status: 400, meaning: 'The body is not JSON.' },
  40003: { status: 400, meaning: 'A field is missing or wrong; the message names it and the rule.' },
  40004: { status: 400, meaning: 'A path or query parameter is wrong or unknown.' },
  40101: { status: 401, meaning: 'No token was sent.' },
  40102: { status: 401, meaning: 'The token is not valid: unknown, expired, revoked or malformed.' },
  40301: { status: 403, meaning: 'The token lacks the scope that this operation needs.' },
  40401: { status: 404, meaning: 'There is no such path.' },
  40402: { status: 404, meaning: 'There is no plant with this id.' },
  40403: { status: 404, meaning: 'There is no token with this id.' },
  40501: {
    status: 405,
    meaning: 'The path does not take this method; the Allow header lists those it takes.',
  },
  40801: { status: 408, meaning: 'The request took too long to arrive.' },
  40901: { status: 409, meaning: 'The id is taken; the stored plant is unchanged.', refusal: true },
  40902: {
    status: 409,
    meaning: 'A request with this idempotency key is still running; send it again in a moment.',
    refusal: true,
    retryAfterSeconds: 1,
  },
  41201: {
    status: 412,
    meaning: 'A precondition (If-Match, If-None-Match) does not hold; read the plant again for its ETag.',
  },
  41301: { status: 413, meaning: 'The body is too large.', refusal: true },
  41501: { status: 415, meaning: 'The media type or coding of the body is not supported.', refusal: true },
  42201: { status: 422, meaning: 'The idempotency key was used with another body.', refusal: true },
  42901: { status: 429, meaning: 'Too many requests.', retryAfterSeconds: 1 },
  43101: { status: 431, meaning: 'The header fields are too large.' },
  50001: { status: 500, meaning: 'An internal error; the log of the service has the details.' },
  50301: { status: 503, meaning: 'The service is overloaded.', retryAfterSeconds: 1 },
  50302: {
    status: 503,
    meaning: 'The storage, or the OpenID provider of the token, is unavailable.',
    retryAfterSeconds: 2,
  },
  50303: { status: 503, meaning: 'The service is shutting down.', retryAfterSeconds: 5 },
  50701: { status: 507, meaning: 'The storage is full.' },
} as const satisfies Record<number, ErrorMeaning>

interface ErrorMeaning {
  status: number
  meaning: string
  refusal?: true
  retryAfterSeconds?: number
}

export type ErrorCode = keyof typeof ERRORS

/** What the table says of `code`, with the optional columns in reach. */
export const meaningOf = (code: ErrorCode): ErrorMeaning => ERRORS[code]

interface AppErrorOptions {
  /** Header fields that belong to the answer, as `Allow` does to 405. */
  headers?: Readonly<Record<string, string>>
  /** What went wrong below; it is logged and never answered. */
  cause?: unknown
  /** Of a refusal with 50301: what there was too much of. It is counted and logged, never answered. */
  reason?: OverloadReason
}

/** What there can be too much of, each of which is bounded. */
export const OVERLOAD_REASONS = [
  'event-loop-lag',
  'write-lag',
  'queued-writes',
  'queued-reads',
  'exports',
  'imports',
] as const

export type OverloadReason = (typeof OVERLOAD_REASONS)[number]

/** A failure with an answer of its own: thrown anywhere, answered in `http/error-answers.ts`. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly headers: Readonly<Record<string, string>>
  readonly reason: OverloadReason | undefined

  /** `message` says what to do; it reaches the client, so it holds no SQL, path, secret or stack. */
  constructor(code: ErrorCode, message: string = ERRORS[code].meaning, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'AppError'
    this.code = code
    this.headers = options.headers ?? {}
    this.reason = options.reason
  }
}

/**
 * A mistake of whoever starts the program: the command line prints its message as one plain line and exits.
 */
export class SetupError extends Error {
  override readonly name: string = 'SetupError'
}

/** A setting that makes no sense, whatever the machine is like: only another one helps, no other try. */
export class SettingError extends SetupError {
  override readonly name = 'SettingError'
}
