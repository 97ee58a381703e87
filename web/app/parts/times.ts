const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

/** The day of an RFC 3339 time, where this browser is, as its language writes it. */
export function dayOf(time: string): string {
  return DAY.format(new Date(time))
}

/** The day and minute likewise. */
export function momentOf(time: string): string {
  return MOMENT.format(new Date(time))
}
