/** The middle of the values, or the mean of the two in the middle; NaN of none. */
export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  const low = sorted[Math.ceil(middle) - 1] ?? Number.NaN
  const high = sorted[Math.floor(middle)] ?? Number.NaN
  return (low + high) / 2
}

/** What 99 of 100 values do not exceed; NaN of none. */
export function p99Of(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * 0.99) - 1] ?? Number.NaN
}

export interface Spread {
  median: number
  min: number
  max: number
}

export function spreadOf(values: readonly number[]): Spread {
  return { median: medianOf(values), min: Math.min(...values), max: Math.max(...values) }
}

/** What ours reached of another's, round by round: both were measured within the same few seconds. */
export function ratiosOf(ours: readonly number[], others: readonly number[]): Spread {
  return spreadOf(ours.map((value, round) => value / (others[round] ?? Number.NaN)))
}
