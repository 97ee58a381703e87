/** The longest first delay; each further one is up to twice as long. */
const DELAY_MS_FIRST = 250
/** The longest delay: a service that is up again is noticed within this time. */
const DELAY_MS_MAX = 5_000
/** Random addition to Retry-After, so that clients rejected together do not return together. */
const JITTER_MS_AFTER = 250

/**
 * The delay after try number `tries` (from 1) failed: a random time below a bound that doubles ("full jitter"), or
 * Retry-After and a little more.
 */
export function retryDelayMs(tries: number, retryAfterMs: number | undefined): number {
  if (retryAfterMs !== undefined) return retryAfterMs + Math.random() * JITTER_MS_AFTER
  return Math.random() * Math.min(DELAY_MS_MAX, DELAY_MS_FIRST * 2 ** (tries - 1))
}

/**
 * The milliseconds of a Retry-After field: seconds, or a date (RFC 9110 §10.2.3), relative to the Date of the response
 * if there is one. Undefined without a valid field.
 */
export function retryAfterMsOf(headers: Headers): number | undefined {
  const field = headers.get('retry-after')?.trim() ?? ''
  if (/^\d+$/.test(field)) return Number(field) * 1_000
  const untilMs = Date.parse(field)
  // Date.parse accepts much else, also a lone number.
  if (!field.endsWith('GMT') || Number.isNaN(untilMs)) return undefined
  return Math.max(0, untilMs - (Date.parse(headers.get('date') ?? '') || Date.now()))
}
