import { RequestError } from '../../../src/client/plant-store-client.ts'
import { texts } from './texts.ts'

const words = texts.failure
const UNAUTHORIZED = 401
const NO_SCOPE = 40301
const TOO_MANY_REQUESTS = 429
/** An overloaded or stopping service, or a gateway that cannot reach it. */
const UNAVAILABLE = [502, 503, 504]
/** The delay of an automatic retry without Retry-After. */
const RETRY_MS = 4_000

/** A failure that the web app itself found. Its message is for people. */
export class ShownError extends Error {}

/** The text of a failure for people: the message of the service if there is one. */
export function failureText(error: unknown): string {
  return textOf(error, error instanceof RequestError && error.isOutcomeUnknown)
}

/** `failureText` without the sentence on what may have been saved: the view says that itself. */
export function causeText(error: unknown): string {
  return textOf(error, false)
}

function textOf(error: unknown, mayBeSaved: boolean): string {
  if (error instanceof ShownError) return error.message
  if (!(error instanceof RequestError)) return words.unexpected
  const { kind, code, status, message, retryAfterMs } = error
  if (code === NO_SCOPE) return words.scope
  if (status === UNAUTHORIZED) return words.signedOut
  const sentences = [kind === 'service' ? message : words[kind]]
  if (mayBeSaved) sentences.push(words.mayBeSaved)
  if (retryAfterMs !== undefined) sentences.push(words.again(Math.max(1, Math.ceil(retryAfterMs / 1_000))))
  return sentences.join(' ')
}

/** When to retry automatically; undefined if the failure is permanent. */
export function retryDelayMs(error: unknown): number | undefined {
  if (!(error instanceof RequestError)) return undefined
  const { kind, status = 0, retryAfterMs } = error
  const isTemporary = kind === 'connection' || kind === 'timeout' || status === TOO_MANY_REQUESTS
  return isTemporary || UNAVAILABLE.includes(status) ? Math.max(RETRY_MS, retryAfterMs ?? 0) : undefined
}

/** Whether the web app itself aborted the request. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError'
}
