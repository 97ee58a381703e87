/** What one turn of the event loop begins of what waits, however short each is. */
const PER_TURN_MAX = 64

/**
 * So long one turn is given to this; whatever else came is served then. A page of 1,000 plants takes a few
 * milliseconds.
 */
const TURN_MS = 10

/** What shares the turns of the event loop with everything else, so that what comes meanwhile is served between. */
export interface EventLoopSlices {
  /** Whether this turn has time for one more task: none waits, and those that were run in it took less than that. */
  hasTime(): boolean
  /** Runs a task at once, and counts the time until it returns. */
  runNow<Result>(task: () => Result): Result
  /** Runs a task when this turn is over, or in one to come. Tasks begin in the order they were given. */
  runLater(task: () => void): void
  /** Tasks that are yet to begin. */
  readonly waiting: number
}

export function createEventLoopSlices(): EventLoopSlices {
  const tasks: (() => void)[] = []
  /** Whether tasks wait. */
  let isPlanned = false
  /** The time of what was run at once in this turn. */
  let spentMs = 0
  let isTurnNew = true

  function endTurn(): void {
    isTurnNew = true
    spentMs = 0
  }

  function runSome(): void {
    const endsAtMs = performance.now() + TURN_MS
    let left = PER_TURN_MAX
    function runNext(): void {
      tasks.shift()?.()
      left--
      // What the promises of a task do is over before the next, and its time known: a tick comes after all of them.
      queueMicrotask(() => process.nextTick(goOn))
    }
    function goOn(): void {
      isPlanned = tasks.length > 0
      if (!isPlanned) return
      if (left > 0 && performance.now() < endsAtMs) runNext()
      else setImmediate(runSome)
    }
    runNext()
  }

  return {
    hasTime: () => !isPlanned && spentMs < TURN_MS,
    runNow(task) {
      if (isTurnNew) setImmediate(endTurn)
      isTurnNew = false
      const startMs = performance.now()
      const result = task()
      spentMs += performance.now() - startMs
      return result
    },
    runLater(task) {
      tasks.push(task)
      if (isPlanned) return
      isPlanned = true
      setImmediate(runSome)
    },
    get waiting() {
      return tasks.length
    },
  }
}
