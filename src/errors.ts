/**
 * Every error code of the service, its HTTP status and its meaning.
 * A code is the closest HTTP status × 100 + n. It is stable and never reused.
 * `rejection` marks faults of the request itself: `POST /plants` responds to them with 400, as specified.
 */
export const ERRORS = {
  40000: { status: 400, meaning: 'The request is not valid HTTP.' },
  40001: { status: 400, meaning: 'The body is missing.' },
  40002: { status: 400, meaning: 'The body is not JSON in UTF-8, or not a valid text to import.' },
  40003: {
    status: 400,
    meaning: 'A field is missing or invalid. The details name the fields and the rules.',
  },
  40004: {
    status: 400,
    meaning:
      'A parameter in the path, the query or a header field is invalid or unknown. The details name it.',
  },
  40101: { status: 401, meaning: 'A token is required.' },
  40102: { status: 401, meaning: 'The token is not valid: it is unknown, expired, revoked or malformed.' },
  40301: { status: 403, meaning: 'The token lacks the scope that this operation requires.' },
  40401: { status: 404, meaning: 'There is no such path.' },
  40402: { status: 404, meaning: 'There is no plant with this id.' },
  40403: { status: 404, meaning: 'There is no token with this id.' },
  40501: {
    status: 405,
    meaning: 'The path does not support this method. The Allow header lists the supported methods.',
  },
  40801: { status: 408, meaning: 'The request took too long to arrive.' },
  40901: { status: 409, meaning: 'The id is already used. The stored plant is unchanged.', rejection: true },
  40902: {
    status: 409,
    meaning: 'A request with this idempotency key is still running. Retry in a moment.',
    rejection: true,
    retryAfterSeconds: 1,
  },
  41201: {
    status: 412,
    meaning: 'A precondition (If-Match, If-None-Match) failed. Read the plant again for its current ETag.',
  },
  41301: { status: 413, meaning: 'The body is too large.', rejection: true },
  41501: {
    status: 415,
    meaning: 'The media type, charset or coding of the body is not supported.',
    rejection: true,
  },
  42201: { status: 422, meaning: 'The idempotency key was already used with another body.', rejection: true },
  42901: { status: 429, meaning: 'Too many requests. Retry later.', retryAfterSeconds: 1 },
  43101: { status: 431, meaning: 'The header fields are too large.' },
  50001: { status: 500, meaning: 'Internal error. The log of the service has the cause.' },
  50301: { status: 503, meaning: 'The service is overloaded. Retry in a moment.', retryAfterSeconds: 1 },
  50302: {
    status: 503,
    meaning: 'The database or the OpenID provider is unavailable. Retry in a moment.',
    retryAfterSeconds: 2,
  },
  50303: { status: 503, meaning: 'The service is shutting down. Retry in a moment.', retryAfterSeconds: 5 },
  50701: { status: 507, meaning: 'The disk of the database is full.' },
} as const satisfies Record<number, ErrorMeaning>

interface ErrorMeaning {
  status: number
  meaning: string
  rejection?: true
  retryAfterSeconds?: number
}

export type ErrorCode = keyof typeof ERRORS

/** The row of `code` in the table, with its optional columns. */
export const meaningOf = (code: ErrorCode): ErrorMeaning => ERRORS[code]

/** What a field can violate: a closed set, stable like the codes. docs/decisions/0025 explains each. */
export const FIELD_RULES = [
  'required',
  'object',
  'array',
  'string',
  'integer',
  'int64',
  'well-formed',
  'single-line',
  'min',
  'max',
  'min-items',
  'max-items',
  'max-length',
  'one-of',
  'unique',
  'date-time',
  'future',
  'same-as-path',
  'unknown-member',
  'utf-8',
] as const

export type FieldRule = (typeof FIELD_RULES)[number]

/**
 * What happened to a write that failed. `none`: nothing was stored. `stored-before-line`: an import stored its rows
 * before `line`, and none from there on. `unknown`: it may or may not have been stored.
 */
export const WRITE_OUTCOMES = ['none', 'stored-before-line', 'unknown'] as const

export type WriteOutcome = (typeof WRITE_OUTCOMES)[number]

/** A field that fails validation. */
export interface FieldError {
  /** Empty for the body or the row as a whole. */
  name: string
  rule: FieldRule
  /** Of an import: the line of the row, from 1. */
  line?: number
}

/** What a program can read of a failure; ErrorDetailsSchema (http/response/error-schema.ts) describes it. */
export interface ErrorDetails {
  fields?: readonly FieldError[]
  /** The path, query or header parameter that is at fault. */
  parameter?: string
  /** The environment variable of the setting to change. */
  setting?: string
  /** Of an import: the line at which it ended, from 1. */
  line?: number
  /** Of an import: its rows before `line`. */
  counts?: Readonly<Record<string, number>>
  outcome?: WriteOutcome
}

interface AppErrorOptions {
  /** Header fields of the response, such as `Allow` of a 405. */
  headers?: Readonly<Record<string, string>>
  /** What failed underneath. It is logged, and never part of a response. */
  cause?: unknown
  details?: ErrorDetails
  /** Of a 50301: the limit that was exceeded. It is counted and logged, and never part of a response. */
  reason?: OverloadReason
}

/** The limits whose excess is an overload. */
export const OVERLOAD_REASONS = [
  'event-loop-lag',
  'write-lag',
  'queued-writes',
  'queued-reads',
  'exports',
  'imports',
] as const

export type OverloadReason = (typeof OVERLOAD_REASONS)[number]

/** A failure with a response of its own: thrown anywhere, sent by `http/response/error-responses.ts`. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly headers: Readonly<Record<string, string>>
  readonly details: ErrorDetails | undefined
  readonly reason: OverloadReason | undefined

  /**
   * `message` says what is wrong and what to do. It reaches the client, so it holds no SQL, path, secret or stack.
   * Programs do not read it: what they need is in `details`.
   */
  constructor(code: ErrorCode, message: string = ERRORS[code].meaning, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'AppError'
    this.code = code
    this.headers = options.headers ?? {}
    this.details = options.details
    this.reason = options.reason
  }
}

/** Codes of failures before anything was stored, unless their details say otherwise. */
const CODES_OF_NOTHING_STORED: readonly ErrorCode[] = [50301, 50303, 50701]

/** What a write stored that failed with this error. In doubt `unknown`: a guess must never lead to a second write. */
export function writeOutcomeOf(error: unknown): WriteOutcome {
  if (!(error instanceof AppError)) return 'unknown'
  const { code, details } = error
  if (details?.outcome !== undefined) return details.outcome
  return meaningOf(code).status < 500 || CODES_OF_NOTHING_STORED.includes(code) ? 'none' : 'unknown'
}

/** A field that fails validation, and a sentence about it. */
export interface FieldProblem extends FieldError {
  message: string
}

/** 40003 for one field or several. */
export function invalidFields(problems: readonly FieldProblem[]): AppError {
  const fields = problems.map(({ message: _, ...field }) => field)
  return new AppError(40003, problems.map(({ message }) => message).join(' '), { details: { fields } })
}

/** 40004 for a parameter, and for the fields that it names wrongly if it names some. */
export function invalidParameter(
  parameter: string,
  message: string,
  fields?: readonly FieldError[],
): AppError {
  return new AppError(40004, message, { details: { parameter, ...(fields && { fields }) } })
}

/** A mistake in how the program was started. The command line prints the message as one plain line and exits. */
export class SetupError extends Error {
  override readonly name: string = 'SetupError'
}

/** An invalid setting. Starting again does not help: the setting has to change. */
export class SettingError extends SetupError {
  override readonly name = 'SettingError'
}
