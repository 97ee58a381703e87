import type { ErrorDetails, ImportEvent } from './plant-types.ts'

/**
 * Why a request failed.
 * - `service`: the service rejected the request, or reported its own failure. `code` is one of {@link ERROR_CODES}.
 * - `response`: the response is incomplete or not from the service: a proxy's page, a redirect.
 * - `connection`: the connection failed, or was lost before the response was complete.
 * - `timeout`: the call took longer than `timeoutMs`.
 */
export type RequestErrorKind = 'service' | 'response' | 'connection' | 'timeout'

/** The progress of an import: every row before `line` (from 1, in the file) is stored, or was reported as failed. */
export interface ImportProgress extends Omit<Extract<ImportEvent, { type: 'progress' }>, 'type'> {}

export interface RequestErrorOptions {
  kind: RequestErrorKind
  code?: number | undefined
  details?: ErrorDetails
  status?: number | undefined
  requestId?: string | undefined
  retryAfterMs?: number | undefined
  isOutcomeUnknown?: boolean
  idempotencyKey?: string | undefined
  progress?: ImportProgress | undefined
  cause?: unknown
}

/**
 * Thrown by every method of the client if its request fails. A method also throws the reason of your AbortSignal,
 * unchanged, and a TypeError for invalid arguments, before anything is sent (for a plant of an import: when it is
 * read).
 *
 * `message` is for people and may change. Programs read `code` and `details`.
 */
export class RequestError extends Error {
  override readonly name = 'RequestError'
  declare readonly kind: RequestErrorKind
  /** The error code, such as 40901 for a used id. Undefined unless `kind` is `service`. */
  declare readonly code: number | undefined
  /** The details of the failure: fields and rules, the parameter, the line. Empty if there are none. */
  declare readonly details: ErrorDetails
  /** The HTTP status. Undefined without a response. */
  declare readonly status: number | undefined
  /** The `x-request-id` of the response, as in the log of the service. */
  declare readonly requestId: string | undefined
  /** `Retry-After`, in milliseconds from when the response arrived. */
  declare readonly retryAfterMs: number | undefined
  /**
   * Whether a failed write may have been applied: it was sent, and no response reports its outcome. For an import:
   * whether rows after `progress` may be stored.
   */
  declare readonly isOutcomeUnknown: boolean
  /**
   * The key of a create. To retry it safely, call `createPlant` with the same plant and this key, within 24 hours by
   * default.
   */
  declare readonly idempotencyKey: string | undefined
  /** The last progress of a failed import. Undefined without any. */
  declare readonly progress: ImportProgress | undefined

  constructor(message: string, { cause, ...members }: RequestErrorOptions) {
    super(message, cause === undefined ? undefined : { cause })
    Object.assign(this, { isOutcomeUnknown: false, details: {} }, members)
  }
}

/** Sets members of an error, if it is a RequestError. Returns the same error. */
export function amendError(error: unknown, members: Partial<RequestErrorOptions>): unknown {
  return error instanceof RequestError ? Object.assign(error, members) : error
}
