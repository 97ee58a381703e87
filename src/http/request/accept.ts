/** A quality as RFC 9110 §12.4.2 writes it. */
const QUALITY = /^(?:0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)$/

interface MediaRange {
  type: string
  quality: number
}

/**
 * Which of `offered` an Accept field likes best (RFC 9110 §12.5.1), the first of them where it says nothing or
 * likes several equally: what it names in full before what it takes along with others. Undefined when it takes
 * none of them. Parameters other than q are not looked at.
 */
export function preferredMediaType<Type extends string>(
  accept: string | undefined,
  offered: readonly [Type, ...Type[]],
): Type | undefined {
  if (accept === undefined || accept.trim() === '') return offered[0]
  const ranges = mediaRangesIn(accept)
  let best: { type: Type; quality: number; closeness: number } | undefined
  for (const type of offered) {
    const { quality, closeness } = likingOf(type, ranges)
    if (quality === 0) continue
    if (
      best === undefined ||
      quality > best.quality ||
      (quality === best.quality && closeness > best.closeness)
    ) {
      best = { type, quality, closeness }
    }
  }
  return best?.type
}

/** The quality that the closest range gives a type, and how close that is: 3 in full, 2 `text/*`, 1 any. */
function likingOf(type: string, ranges: readonly MediaRange[]): { quality: number; closeness: number } {
  const [group = ''] = type.split('/')
  for (const [closeness, wanted] of [
    [3, type],
    [2, `${group}/*`],
    [1, '*/*'],
  ] as const) {
    const found = ranges.find((range) => range.type === wanted)
    if (found !== undefined) return { quality: found.quality, closeness }
  }
  return { quality: 0, closeness: 0 }
}

function mediaRangesIn(accept: string): MediaRange[] {
  // A quoted value may hold a comma or a semicolon, and none is of interest.
  const ranges = accept
    .toLowerCase()
    .replace(/"(?:[^"\\]|\\.)*"/g, '')
    .split(',')
  return ranges.flatMap((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim())
    const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1'
    // A range that is not well formed counts as if it were not there.
    return QUALITY.test(quality) ? [{ type, quality: Number(quality) }] : []
  })
}
