/** More slips of the finger than this are another word. */
const SLIPS_MAX = 3

/** The candidate that was most likely meant by `word`; undefined when none is near. */
export function closestMatch(word: string, candidates: readonly string[]): string | undefined {
  let found: string | undefined
  let fewest = Math.min(SLIPS_MAX, Math.floor(word.length / 2)) + 1
  for (const candidate of candidates) {
    const slips = slipsBetween(word.toLowerCase(), candidate)
    if (slips >= fewest) continue
    fewest = slips
    found = candidate
  }
  return found
}

/** `(Did you mean x?)` on a line of its own, as commander says it of commands and flags; or nothing. */
export function suggestion(word: string, candidates: readonly string[]): string {
  const found = closestMatch(word, candidates)
  return found === undefined ? '' : `\n(Did you mean ${found}?)`
}

/** How many characters were left out, added, swapped for others, or put in the wrong order, between two words. */
function slipsBetween(one: string, other: string): number {
  let before: number[] = []
  let row = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (let at = 0; at < one.length; at++) {
    const next = [at + 1]
    for (let column = 0; column < other.length; column++) {
      const isSame = one[at] === other[column]
      const isSwapped = one[at] === other[column - 1] && one[at - 1] === other[column]
      next.push(
        Math.min(
          (row[column] ?? 0) + (isSame ? 0 : 1),
          (row[column + 1] ?? 0) + 1,
          (next[column] ?? 0) + 1,
          isSwapped ? (before[column - 1] ?? 0) + 1 : Number.POSITIVE_INFINITY,
        ),
      )
    }
    before = row
    row = next
  }
  return row[other.length] ?? 0
}
