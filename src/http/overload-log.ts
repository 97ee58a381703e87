import type { Logger } from 'pino'
import type { AppError, OverloadReason } from '../errors.ts'

/** A line for each refusal would cost more than the refusal, and fill the disk when it matters least. */
const LINE_EVERY_MS = 1_000

/**
 * Notes refusals with 50301, a line a second at most: the first at once, then how many there were since, and of
 * what there was too much.
 */
export function createOverloadLog(log: Logger): (failure: AppError) => void {
  let counts = new Map<OverloadReason | 'unknown', number>()
  let timer: NodeJS.Timeout | undefined

  function tell(): void {
    if (counts.size === 0) {
      timer = undefined
      return
    }
    log.error({ refused: Object.fromEntries(counts), error: 50301 }, 'overloaded')
    counts = new Map()
    timer = setTimeout(tell, LINE_EVERY_MS)
    timer.unref()
  }

  return (failure) => {
    const reason = failure.reason ?? 'unknown'
    counts.set(reason, (counts.get(reason) ?? 0) + 1)
    if (timer === undefined) tell()
  }
}
