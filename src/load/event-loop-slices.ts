/** Tasks that start in one slice at most, however short they are. */
const TASKS_PER_SLICE_MAX = 64

/** The length of a slice. A page of 1,000 plants takes a few milliseconds. */
const SLICE_MS = 10

/** Runs tasks in a slice of each turn of the event loop: other requests run between the slices. */
export interface EventLoopSlices {
  /** True if no task is queued and the slice of this turn is not used up. */
  hasTime(): boolean
  /** Runs a task at once and counts its time against the slice of this turn. */
  runNow<Result>(task: () => Result): Result
  /** Runs a task in a later turn. Tasks start in order. */
  runLater(task: () => void): void
  /** Tasks that have not started. */
  readonly queued: number
}

export function createEventLoopSlices(): EventLoopSlices {
  const tasks: (() => void)[] = []
  /** Whether a slice is scheduled or running. */
  let isScheduled = false
  /** Time of the tasks that ran at once in this turn. */
  let spentMs = 0
  let isTurnNew = true

  function endTurn(): void {
    isTurnNew = true
    spentMs = 0
  }

  function runSlice(): void {
    const endsAtMs = performance.now() + SLICE_MS
    let left = TASKS_PER_SLICE_MAX
    function runNext(): void {
      tasks.shift()?.()
      left--
      // A tick runs after all microtasks: the promises of a task are settled, and their time counted, before the next.
      queueMicrotask(() => process.nextTick(continueSlice))
    }
    function continueSlice(): void {
      isScheduled = tasks.length > 0
      if (!isScheduled) return
      if (left > 0 && performance.now() < endsAtMs) runNext()
      else setImmediate(runSlice)
    }
    runNext()
  }

  return {
    hasTime: () => !isScheduled && spentMs < SLICE_MS,
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
      if (isScheduled) return
      isScheduled = true
      setImmediate(runSlice)
    },
    get queued() {
      return tasks.length
    },
  }
}
