const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const MOMENT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

/** The date of an RFC 3339 time, in the time zone and language of the browser. */
export function dayOf(time: string): string {
  return DAY.format(new Date(time))
}

/** The date and time to the minute, likewise. */
export function momentOf(time: string): string {
  return MOMENT.format(new Date(time))
}
