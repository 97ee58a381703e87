import type { Period, Unit } from './periods.ts'

/** As the reader's language writes them; the service counts in UTC, where the reader may have another day. */
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

/** The period in full: a week, say, from its first day to its last. */
export function periodText(unit: Unit, { beginMs, endMs }: Period): string {
  // The same where both ends are written alike.
  return LONG[unit].formatRange(beginMs, endMs - 1)
}

/** When the period begins, short enough for an axis. */
export function beginText(unit: Unit, { beginMs }: Period): string {
  return SHORT[unit].format(beginMs)
}
