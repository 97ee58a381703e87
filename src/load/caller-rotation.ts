/** A caller with running or queued tasks. */
export interface Caller<Task> {
  readonly id: string | undefined
  running: number
  /** The oldest first. */
  readonly queued: Task[]
}

/** Queued tasks, taken round-robin by caller. Holds a caller only while it has tasks. */
export class CallerRotation<Task> {
  readonly #callers = new Map<string | undefined, Caller<Task>>()
  /** Callers with queued tasks, the next one first. */
  readonly #withQueued: Caller<Task>[] = []
  #queued = 0

  get queued(): number {
    return this.#queued
  }

  /** The caller with this id. Call `forgetIfIdle` if it is given no task. */
  callerOf(id: string | undefined): Caller<Task> {
    let caller = this.#callers.get(id)
    if (caller === undefined) {
      caller = { id, running: 0, queued: [] }
      this.#callers.set(id, caller)
    }
    return caller
  }

  forgetIfIdle(caller: Caller<Task>): void {
    if (caller.running === 0 && caller.queued.length === 0) this.#callers.delete(caller.id)
  }

  push(caller: Caller<Task>, task: Task): void {
    if (caller.queued.push(task) === 1) this.#withQueued.push(caller)
    this.#queued++
  }

  remove(caller: Caller<Task>, task: Task): void {
    // Most removed tasks are the oldest, so `indexOf` finds them at once.
    caller.queued.splice(caller.queued.indexOf(task), 1)
    this.#queued--
    if (caller.queued.length === 0) this.#withQueued.splice(this.#withQueued.indexOf(caller), 1)
    this.forgetIfIdle(caller)
  }

  /** Removes and returns the oldest task of the next caller for which `takeSlot` returns true. */
  takeNext(takeSlot: (caller: Caller<Task>) => boolean): Task | undefined {
    for (let tries = this.#withQueued.length; tries > 0; tries--) {
      const caller = this.#withQueued.shift() as Caller<Task>
      this.#withQueued.push(caller)
      if (!takeSlot(caller)) continue
      const task = caller.queued[0] as Task
      this.remove(caller, task)
      return task
    }
    return undefined
  }

  /**
   * Removes and returns the newest task of the caller with the most queued tasks; undefined if that caller would then
   * have fewer than this one.
   */
  displaceFor({ queued }: Caller<Task>): Task | undefined {
    const [first, ...others] = this.#withQueued
    if (first === undefined) return undefined
    const largest = others.reduce((most, one) => (one.queued.length > most.queued.length ? one : most), first)
    if (largest.queued.length <= queued.length + 1) return undefined
    const newest = largest.queued.at(-1) as Task
    this.remove(largest, newest)
    return newest
  }

  /** Removes and returns every queued task. */
  clear(): Task[] {
    const tasks = this.#withQueued.flatMap(({ queued }) => queued)
    for (const caller of this.#withQueued.splice(0)) {
      caller.queued.length = 0
      this.forgetIfIdle(caller)
    }
    this.#queued = 0
    return tasks
  }
}
