/** What one turn of the event loop does of this at most, however short each is. */
const PER_TURN_MAX = 16

/** So long one turn is given to it; whatever else came is served then. A page of 1,000 plants takes a few milliseconds. */
const TURN_MS = 20

/** Runs a task in a turn to come. Tasks begin in the order they were given. */
export type RunLater = (task: () => void) => void

/**
 * What runs tasks a few in each turn of the event loop, so that however many there are, what comes meanwhile is
 * served between them.
 */
export function createFairTurns(): RunLater {
  const tasks: (() => void)[] = []
  let isPlanned = false

  // An immediate for each, so that what the promises of a task do is over, and its time known, before the next.
  function planTurn(): void {
    const steps = Math.min(tasks.length, PER_TURN_MAX)
    isPlanned = steps > 0
    let endsAtMs = Number.POSITIVE_INFINITY
    for (let step = 1; step <= steps; step++) {
      setImmediate(() => {
        if (step === 1) endsAtMs = performance.now() + TURN_MS
        if (step === steps) setImmediate(planTurn)
        if (performance.now() < endsAtMs) tasks.shift()?.()
      })
    }
  }

  return (task) => {
    tasks.push(task)
    if (isPlanned) return
    isPlanned = true
    setImmediate(planTurn)
  }
}
