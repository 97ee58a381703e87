import { RequestError } from '../../src/client/plant-store-client.ts'
import { texts } from './texts.ts'

const NO_SCOPE = 40301

/** What failed, in words for people: the service's own where it has some. */
export function failureText(error: unknown): string {
  if (!(error instanceof RequestError)) return texts.failure.unexpected
  if (error.code === NO_SCOPE) return texts.failure.scope
  const told = error.kind === 'service' ? error.message : texts.failure[error.kind]
  return error.isOutcomeUnknown ? `${told} ${texts.failure.mayBeDone}` : told
}

/** Whether it is only that the page itself wanted no answer any more. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError'
}
