/** With more typing errors than this it is another word. */
const TYPOS_MAX = 3

/** The candidate that is most similar to `word`; undefined if none is similar enough. */
export function closestMatch(word: string, candidates: readonly string[]): string | undefined {
  let found: string | undefined
  let fewest = Math.min(TYPOS_MAX, Math.floor(word.length / 2)) + 1
  for (const candidate of candidates) {
    const typos = typosBetween(word.toLowerCase(), candidate)
    if (typos >= fewest) continue
    fewest = typos
    found = candidate
  }
  return found
}

/** `(Did you mean x?)` on a line of its own, in the form that commander uses; empty without a similar candidate. */
export function suggestion(word: string, candidates: readonly string[]): string {
  const found = closestMatch(word, candidates)
  return found === undefined ? '' : `\n(Did you mean ${found}?)`
}

/** The Damerau-Levenshtein distance: omitted, added, replaced and transposed characters. */
function typosBetween(one: string, other: string): number {
  let previousRow: number[] = []
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
          isSwapped ? (previousRow[column - 1] ?? 0) + 1 : Number.POSITIVE_INFINITY,
        ),
      )
    }
    previousRow = row
    row = next
  }
  return row[other.length] ?? 0
}
