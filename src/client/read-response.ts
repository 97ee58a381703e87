import { parseWithIdTexts } from './exact-ids.ts'
import { foreignResponse, type ServiceResponse } from './send-request.ts'

/** Returns `read` of the JSON of a response, in which ids are texts. Throws a RequestError when it fails. */
export function readResponse<T>(response: ServiceResponse<string>, read: (parsed: unknown) => T): T {
  try {
    return read(parseWithIdTexts(response.body))
  } catch (cause) {
    throw foreignResponse(response, 'unexpected JSON', cause)
  }
}

export function asObject<T>(parsed: unknown): T {
  if (Object(parsed) !== parsed || Array.isArray(parsed)) throw new TypeError('not an object')
  return parsed as T
}

export function asList<T>(parsed: unknown): T[] {
  if (!Array.isArray(parsed)) throw new TypeError('not a list')
  return parsed
}
