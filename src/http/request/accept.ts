/** A quality as RFC 9110 §12.4.2 writes it. */
const QUALITY = /^(?:0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)$/

/**
 * The pattern of a quoted value (RFC 9110 §5.6.4), which may contain a comma or a semicolon. One without an end extends
 * to the end of the field: otherwise each of many quotation marks would search the rest of the field.
 */
export const QUOTED_VALUE = String.raw`"(?:[^"\\]|\\.?)*(?:"|$)`

/** Quoted values do not matter here. */
const QUOTED = new RegExp(QUOTED_VALUE, 'g')

/** A member of an `Accept…` field, in lower case, and its quality: 0 rejects it. */
export interface Preference {
  value: string
  quality: number
}

/**
 * Parses a field of preferences (RFC 9110 §12.5), such as Accept and Accept-Encoding. Malformed members are omitted,
 * and parameters other than q ignored.
 */
export function parsePreferences(field: string): Preference[] {
  const members = field.toLowerCase().replace(QUOTED, '').split(',')
  return members.flatMap((member) => {
    const [value = '', ...parameters] = member.split(';').map((part) => part.trim())
    const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1'
    return QUALITY.test(quality) ? [{ value, quality: Number(quality) }] : []
  })
}

/**
 * The type of `offered` that an Accept field prefers (RFC 9110 §12.5.1). The first one if there is no field; of several
 * with the same quality the one with the most specific range, then the first. Undefined if the field accepts none.
 */
export function preferredMediaType<Type extends string>(
  accept: string | undefined,
  offered: readonly [Type, ...Type[]],
): Type | undefined {
  if (accept === undefined || accept.trim() === '') return offered[0]
  const ranges = parsePreferences(accept)
  let best: { type: Type; quality: number; precision: number } | undefined
  for (const type of offered) {
    const { quality, precision } = matchOf(type, ranges)
    if (quality === 0) continue
    if (
      best === undefined ||
      quality > best.quality ||
      (quality === best.quality && precision > best.precision)
    ) {
      best = { type, quality, precision }
    }
  }
  return best?.type
}

/**
 * The quality of the most specific range that matches, and its precision: 3 for `text/csv`, 2 for a group, 1 for any.
 */
function matchOf(type: string, ranges: readonly Preference[]): { quality: number; precision: number } {
  const [group = ''] = type.split('/')
  for (const [precision, wanted] of [
    [3, type],
    [2, `${group}/*`],
    [1, '*/*'],
  ] as const) {
    const found = ranges.find(({ value }) => value === wanted)
    if (found !== undefined) return { quality: found.quality, precision }
  }
  return { quality: 0, precision: 0 }
}
