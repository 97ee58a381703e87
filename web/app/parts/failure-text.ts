import { RequestError } from '../../../src/client/plant-store-client.ts'
import { texts } from './texts.ts'

const words = texts.failure
const UNAUTHORIZED = 401
const NO_SCOPE = 40301
const TOO_MANY_REQUESTS = 429
/** An overloaded or stopping service, and a gateway that lost it. */
const UNAVAILABLE = [502, 503, 504]
/** How soon the page asks again by itself where the service does not say when. */
const AGAIN_MS = 4_000

/** What failed, in words for people: the service's own where it has some. */
export function failureText(error: unknown): string {
  return textOf(error, error instanceof RequestError && error.isOutcomeUnknown)
}

/** `failureText` for where it is told otherwise what may have been done. */
export function causeText(error: unknown): string {
  return textOf(error, false)
}

function textOf(error: unknown, mayBeDone: boolean): string {
  if (!(error instanceof RequestError)) return words.unexpected
  const { kind, code, status, message, retryAfterMs } = error
  if (code === NO_SCOPE) return words.scope
  if (status === UNAUTHORIZED) return words.signedOut
  const told = [kind === 'service' ? message : words[kind]]
  if (mayBeDone) told.push(words.mayBeDone)
  if (retryAfterMs !== undefined) told.push(words.again(Math.max(1, Math.ceil(retryAfterMs / 1_000))))
  return told.join(' ')
}

/** After how long it is worth while to ask again without being told to; undefined where it never is. */
export function retryDelayMs(error: unknown): number | undefined {
  if (!(error instanceof RequestError)) return undefined
  const { kind, status = 0, retryAfterMs } = error
  const mayPass = kind === 'connection' || kind === 'timeout' || status === TOO_MANY_REQUESTS
  return mayPass || UNAVAILABLE.includes(status) ? Math.max(AGAIN_MS, retryAfterMs ?? 0) : undefined
}

/** Whether it is only that the page itself wanted no answer any more. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError'
}
