import { parseWithIdTexts } from './exact-ids.ts'
import { type Answer, sendError } from './send-request.ts'

/** What `read` makes of the JSON of an answer (ids are texts in it). Throws a RequestError where it cannot. */
export function readResponse<T>(answer: Answer<string>, read: (parsed: unknown) => T): T {
  try {
    return read(parseWithIdTexts(answer.body))
  } catch (cause) {
    throw sendError(answer, 'The answer is not one of the service: it is not JSON of its kind', cause)
  }
}

export function asObject<T>(parsed: unknown): T {
  if (Object(parsed) !== parsed || Array.isArray(parsed)) throw new TypeError('no object')
  return parsed as T
}

export function asList<T>(parsed: unknown): T[] {
  if (!Array.isArray(parsed)) throw new TypeError('no list')
  return parsed
}
