import type { ImportEvent } from './plant-types.ts'

/**
 * Why a request failed.
 * - `service`: the service refused it and said why; `code` is one of its codes.
 * - `answer`: what answered is not the service, or not as the service answers: a proxy's page, a redirect.
 * - `connection`: none could be made, or it was lost before the answer was whole.
 * - `timeout`: it took longer than `timeoutMs`.
 */
export type RequestErrorKind = 'service' | 'answer' | 'connection' | 'timeout'

/** How far an import got: every row before `line` (from 1, in the file) is stored, or was reported as refused. */
export interface ImportProgress extends Omit<Extract<ImportEvent, { type: 'progress' }>, 'type'> {}

export interface RequestErrorDetails {
  kind: RequestErrorKind
  code?: number | undefined
  status?: number | undefined
  requestId?: string | undefined
  retryAfterMs?: number | undefined
  isOutcomeUnknown?: boolean
  idempotencyKey?: string | undefined
  progress?: ImportProgress | undefined
  cause?: unknown
}

/**
 * What every method of the client throws when its request fails. (Two other things are thrown: the reason of
 * an AbortSignal of yours, as it is, and a TypeError for arguments that make no sense, before anything is sent; of
 * a plant in an import, when its turn comes.)
 */
export class RequestError extends Error {
  override readonly name = 'RequestError'
  declare readonly kind: RequestErrorKind
  /** The error code of the service, such as 40901 for an id that is taken; undefined unless `kind` is `service`. */
  declare readonly code: number | undefined
  /** The HTTP status; undefined where no answer came. */
  declare readonly status: number | undefined
  /** The `x-request-id` of the answer, by which the log of the service tells of it. */
  declare readonly requestId: string | undefined
  /** What `Retry-After` asked for, in milliseconds from when the answer came. */
  declare readonly retryAfterMs: number | undefined
  /**
   * Whether a write may have been done although it failed: a try was sent, and no answer tells what became of it, or
   * none that can be read. Of an import, whether rows behind `progress` may be stored.
   */
  declare readonly isOutcomeUnknown: boolean
  /**
   * The key that a create was sent with. To try on, also much later (24 hours, unless the service is set up
   * otherwise), call `createPlant` with the same plant and this key: it is not added twice.
   */
  declare readonly idempotencyKey: string | undefined
  /** What an import had told last before it failed; undefined where it had told nothing. */
  declare readonly progress: ImportProgress | undefined

  constructor(message: string, { cause, ...details }: RequestErrorDetails) {
    super(message, cause === undefined ? undefined : { cause })
    Object.assign(this, { isOutcomeUnknown: false }, details)
  }
}

/** Adds to what an error tells, where it is a RequestError. The same error. */
export function withDetails(error: unknown, details: Partial<RequestErrorDetails>): unknown {
  return error instanceof RequestError ? Object.assign(error, details) : error
}
