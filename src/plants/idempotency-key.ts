import { hash } from 'node:crypto'
import { AppError } from '../errors.ts'
import { CONTENT_MEMBERS, type NewPlant } from './plant.ts'

/** The header field of a key. */
export const KEY_FIELD = 'Idempotency-Key'

/** The maximum number of characters in an idempotency key. */
export const KEY_CHARACTERS_MAX = 255

/**
 * Parses an `Idempotency-Key` field: a structured-field string ("…", RFC 9651 §3.3.3) or the bare text. Throws 40003 if
 * the key is malformed, empty, or longer than KEY_CHARACTERS_MAX.
 */
export function parseIdempotencyKey(field: string): string {
  const text = field.trim()
  const key = text.startsWith('"') ? unquote(text) : text
  if (key === undefined || key === '' || key.length > KEY_CHARACTERS_MAX || !/^[\x20-\x7e]*$/.test(key)) {
    throw new AppError(
      40003,
      `${KEY_FIELD} must be 1 to ${KEY_CHARACTERS_MAX} printable ASCII characters, bare or in quotation marks.`,
      { details: { parameter: KEY_FIELD } },
    )
  }
  return key
}

function unquote(text: string): string | undefined {
  const quoted = /^"((?:[^"\\]|\\["\\])*)"$/.exec(text)
  return quoted?.[1]?.replace(/\\(["\\])/g, '$1')
}

/** The length of a field with the longest key, quoted and with every character escaped. */
export const KEY_FIELD_CHARACTERS_MAX = 2 * KEY_CHARACTERS_MAX + 2

/**
 * A digest of the plant in a create: equal for equal plants, however their JSON is written. Absent members are not part
 * of it, so stored fingerprints stay valid when plants get a new optional member.
 */
export function fingerprintOf(plant: NewPlant): string {
  const members = CONTENT_MEMBERS.map(({ name, get }) => [name, get(plant)])
  const present = members.filter(([, text]) => text !== undefined)
  return hash('sha256', JSON.stringify([plant.id.toString(), ...present]), 'hex')
}
