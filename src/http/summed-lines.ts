/** A line for each would cost more than what it tells of, and fill the disk when it matters least. */
const LINE_EVERY_MS = 1_000

export interface SummedLines<Reason extends string> {
  count(reason: Reason): void
  /** Tells what is counted and not yet told. */
  stop(): void
}

/**
 * Tells of what may come by the thousand, a line a second at most: the first at once, then how many there were since,
 * by reason.
 */
export function createSummedLines<Reason extends string>(
  tell: (counts: Readonly<Record<string, number>>) => void,
): SummedLines<Reason> {
  let counts = new Map<Reason, number>()
  let timer: NodeJS.Timeout | undefined

  function tellCounted(): void {
    clearTimeout(timer)
    timer = undefined
    if (counts.size === 0) return
    tell(Object.fromEntries(counts))
    counts = new Map()
  }

  function tellAndWait(): void {
    const isSilent = counts.size === 0
    tellCounted()
    if (!isSilent) timer = setTimeout(tellAndWait, LINE_EVERY_MS).unref()
  }

  return {
    count(reason) {
      counts.set(reason, (counts.get(reason) ?? 0) + 1)
      if (timer === undefined) tellAndWait()
    },
    stop: tellCounted,
  }
}
