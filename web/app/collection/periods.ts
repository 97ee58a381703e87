import type { DayCount } from '../../../src/client/plant-store-client.ts'

/** More bars would be too narrow on a phone. */
const PERIODS_MAX = 60
/** Fewer days would make a chart of one wide bar. */
const DAYS_MIN = 7

const DAY_MS = 86_400_000
const DAYS_OF_WEEK = 7
/** The first Monday of 1970, in days since 1 January. */
const FIRST_MONDAY = 4

export type Unit = 'day' | 'week' | 'month' | 'year'

/** A period in UTC, and the number of plants added in it. */
export interface Period {
  beginMs: number
  /** The first millisecond after the period. */
  endMs: number
  count: number
}

export interface Timeline {
  unit: Unit
  /** Adjacent, in order. Some may be empty. */
  periods: Period[]
}

interface Division {
  unit: Unit
  /** The number of the period that contains a time. Numbers are consecutive. */
  numberOf(timeMs: number): number
  beginOf(number: number): number
}

const WEEK_MS = DAYS_OF_WEEK * DAY_MS
const DIVISIONS: readonly Division[] = [
  { unit: 'day', numberOf: (timeMs) => Math.floor(timeMs / DAY_MS), beginOf: (number) => number * DAY_MS },
  {
    unit: 'week',
    numberOf: (timeMs) => Math.floor((timeMs - FIRST_MONDAY * DAY_MS) / WEEK_MS),
    beginOf: (number) => FIRST_MONDAY * DAY_MS + number * WEEK_MS,
  },
  {
    unit: 'month',
    numberOf: (timeMs) => new Date(timeMs).getUTCFullYear() * 12 + new Date(timeMs).getUTCMonth(),
    beginOf: (number) => beginOfMonth(number),
  },
]

/**
 * Sums days into periods of one length, the shortest that gives at most PERIODS_MAX. They run from the first plant to
 * the time of the count, or to the newest plant if clocks differ.
 */
export function timelineOf(days: readonly DayCount[], countedAt: string): Timeline {
  const times = days.map(({ day }) => Date.parse(day))
  const lastMs = Math.max(Date.parse(countedAt), ...times.slice(-1))
  const firstMs = Math.min(times[0] ?? lastMs, lastMs - (DAYS_MIN - 1) * DAY_MS)
  const spanIn = ({ numberOf }: Division) => numberOf(lastMs) - numberOf(firstMs) + 1
  const division = DIVISIONS.find((one) => spanIn(one) <= PERIODS_MAX) ?? yearsBetween(firstMs, lastMs)
  const { unit, numberOf, beginOf } = division
  const firstNumber = numberOf(firstMs)
  const periods = Array.from({ length: spanIn(division) }, (_, at) => ({
    beginMs: beginOf(firstNumber + at),
    endMs: beginOf(firstNumber + at + 1),
    count: 0,
  }))
  for (const { day, count } of days) {
    const period = periods[numberOf(Date.parse(day)) - firstNumber]
    if (period !== undefined) period.count += count
  }
  return { unit, periods }
}

/** Periods of as many years as keep PERIODS_MAX. */
function yearsBetween(firstMs: number, lastMs: number): Division {
  const yearOf = (timeMs: number) => new Date(timeMs).getUTCFullYear()
  const years = Math.ceil((yearOf(lastMs) - yearOf(firstMs) + 1) / (PERIODS_MAX - 1))
  return {
    unit: 'year',
    numberOf: (timeMs) => Math.floor(yearOf(timeMs) / years),
    beginOf: (number) => beginOfMonth(number * years * 12),
  }
}

/** Months are numbered year × 12 + month. */
function beginOfMonth(number: number): number {
  return new Date(0).setUTCFullYear(Math.floor(number / 12), number % 12, 1)
}

/** A round number of at least `greatest`, for the end of a scale: even, so that its half is whole, or 1. */
export function scaleEnd(greatest: number): number {
  if (greatest <= 1) return 1
  const power = 10 ** Math.floor(Math.log10(greatest))
  const end = [1, 2, 4, 6, 8, 10].find((factor) => factor * power >= greatest) ?? 10
  return end * power === 1 ? 2 : end * power
}

/** Steps between labelled months that divide a year evenly. */
const MONTH_STEPS = [1, 2, 3, 6, 12]

/** The indices of the periods with a label, about `labelsMax` at most. */
export function labelled({ unit, periods }: Timeline, labelsMax: number): number[] {
  const least = Math.ceil(periods.length / labelsMax - (unit === 'month' ? 0.5 : 0))
  const step = unit === 'month' ? (MONTH_STEPS.find((one) => one >= least) ?? least) : least
  const offset = unit === 'month' ? new Date(periods[0]?.beginMs ?? 0).getUTCMonth() : 0
  return periods.flatMap((_, at) => ((at + offset) % step === 0 ? [at] : []))
}
