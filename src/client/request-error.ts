import type { ErrorDetails, ImportEvent } from './plant-types.ts'

/**
 * Why a request failed.
 * - `service`: the service rejected it, or failed and said so. `code` is one of {@link ERROR_CODES}.
 * - `response`: the response is not from the service, or not complete: a proxy's page, a redirect.
 * - `connection`: there was no connection, or it was lost before the response was complete.
 * - `timeout`: it took longer than `timeoutMs`.
 */
export type RequestErrorKind = 'service' | 'response' | 'connection' | 'timeout'

/** How far an import got: every row before `line` (from 1, in the file) is stored, or was reported as failed. */
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
 * Thrown by every method of the client when its request fails. Two other things are thrown: the reason of an
 * AbortSignal of yours, unchanged, and a TypeError for invalid arguments, before anything is sent (for a plant of an
 * import: when it is read).
 *
 * `message` is for people and may change. Programs read `code` and `details`.
 */
export class RequestError extends Error {
  override readonly name = 'RequestError'
  declare readonly kind: RequestErrorKind
  /** The error code, such as 40901 for a used id. Undefined unless `kind` is `service`. */
  declare readonly code: number | undefined
  /** What the service says of the failure: fields and rules, the parameter, the line. Empty when it says nothing. */
  declare readonly details: ErrorDetails
  /** The HTTP status. Undefined without a response. */
  declare readonly status: number | undefined
  /** The `x-request-id` of the response, which the log of the service has, too. */
  declare readonly requestId: string | undefined
  /** `Retry-After`, in milliseconds from when the response arrived. */
  declare readonly retryAfterMs: number | undefined
  /**
   * Whether a write may have been applied although it failed: it was sent, and no response says what happened to it.
   * Of an import: whether rows after `progress` may be stored.
   */
  declare readonly isOutcomeUnknown: boolean
  /**
   * The key of a create. To retry it, within 24 hours unless the service is configured otherwise, call `createPlant`
   * with the same plant and this key: it is not created twice.
   */
  declare readonly idempotencyKey: string | undefined
  /** The last progress of an import before it failed. Undefined when there was none. */
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
