/** The first wait is up to so long, each further one up to twice the one before. */
const DELAY_MS_FIRST = 250
/** Where it stops growing: a service that comes back is found within this time. */
const DELAY_MS_MAX = 5_000
/** Added by chance to what Retry-After asks for, so that those who were sent off together do not return together. */
const JITTER_MS_AFTER = 250

/**
 * How long to wait after try number `tries` (from 1) failed: a random time below a bound that doubles ("full
 * jitter"), or what the service asked for and a little more.
 */
export function retryDelayMs(tries: number, retryAfterMs: number | undefined): number {
  if (retryAfterMs !== undefined) return retryAfterMs + Math.random() * JITTER_MS_AFTER
  return Math.random() * Math.min(DELAY_MS_MAX, DELAY_MS_FIRST * 2 ** (tries - 1))
}

/**
 * The milliseconds that a Retry-After field asks for: seconds, or a date (RFC 9110 §10.2.3), which is held
 * against the clock of the answer where it has one. Undefined where there is no such field, or it says
 * neither.
 */
export function retryAfterMsOf(headers: Headers): number | undefined {
  const field = headers.get('retry-after')?.trim() ?? ''
  if (/^\d+$/.test(field)) return Number(field) * 1_000
  const untilMs = Date.parse(field)
  // Date.parse takes much for a date, also a lone number.
  if (!field.endsWith('GMT') || Number.isNaN(untilMs)) return undefined
  return Math.max(0, untilMs - (Date.parse(headers.get('date') ?? '') || Date.now()))
}
