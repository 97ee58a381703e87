import type { Period, Unit } from './periods.ts'

/** In the language of the browser, but in UTC, as the service counts. */
const format = (options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat(undefined, { timeZone: 'UTC', ...options })

const LONG = {
  day: format({ dateStyle: 'full' }),
  week: format({ dateStyle: 'medium' }),
  month: format({ year: 'numeric', month: 'long' }),
  year: format({ year: 'numeric' }),
}
const SHORT = {
  day: format({ month: 'short', day: 'numeric' }),
  week: format({ month: 'short', day: 'numeric' }),
  month: format({ month: 'short', year: 'numeric' }),
  year: format({ year: 'numeric' }),
}

/** The whole period, such as a week from its first day to its last. */
export function periodText(unit: Unit, { beginMs, endMs }: Period): string {
  // formatRange() writes one date if both ends are the same.
  return LONG[unit].formatRange(beginMs, endMs - 1)
}

/** The begin of a period, short enough for an axis. */
export function beginText(unit: Unit, { beginMs }: Period): string {
  return SHORT[unit].format(beginMs)
}
