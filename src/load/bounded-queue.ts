import { AppError } from '../errors.ts'
import { type Caller, CallerRotation } from './caller-rotation.ts'
import type { EventLoopSlices } from './event-loop-slices.ts'
import type { SharedSlots } from './shared-slots.ts'

/** The share of the slots that one caller may take: other callers find a free slot however long its tasks run. */
const CALLER_SHARE = 3 / 4

export interface BoundedQueueOptions {
  /** Tasks that run at once. Any number by default. */
  slots?: number
  /** Tasks that may be queued; one more is rejected. */
  queuedMax: number
  /** How long a task may be queued. Any time by default. */
  waitMaxMs?: number
  /** The error (50301 with its reason) of every task that is rejected because the queue is full. */
  overloaded: AppError
  /** For tasks that block the event loop until they are done: they start in these slices and take no slots. */
  slices?: EventLoopSlices
  /** Slots shared with other queues: a task takes one of these and one of its own queue. */
  sharedSlots?: SharedSlots
}

export interface RunOptions {
  /** The caller of the task. All tasks without a caller count as one caller, which may take every slot. */
  caller?: string | undefined
  /** Called before a queued task starts: false rejects it with 40000. */
  isWanted?: (() => boolean) | undefined
}

interface QueuedTask {
  caller: Caller<QueuedTask>
  /** Runs it in the slot that was taken for it. */
  start(): void
  reject(error: AppError): void
  timer: NodeJS.Timeout | undefined
}

/**
 * Runs a limited number of tasks at once, queues a limited number and rejects the rest. Queued tasks start round-robin
 * by caller, each caller's in order. A caller gets at most three quarters of the slots. It may fill the whole queue;
 * then its newest tasks are displaced by those of callers that have fewer.
 */
export class BoundedQueue {
  readonly #options: BoundedQueueOptions
  readonly #slots: number
  readonly #slotsOfCaller: number
  readonly #rotation = new CallerRotation<QueuedTask>()
  #running = 0
  /** Tasks that have succeeded so far. */
  #succeeded = 0
  #closedWith: AppError | undefined

  constructor(options: BoundedQueueOptions) {
    this.#options = options
    this.#slots = options.slots ?? Number.POSITIVE_INFINITY
    this.#slotsOfCaller = Math.max(1, Math.floor(this.#slots * CALLER_SHARE))
    options.sharedSlots?.join(() => this.#startNext())
  }

  get running(): number {
    return this.#running
  }

  get queued(): number {
    return this.#rotation.queued
  }

  /**
   * Runs the task, at once if a slot is free, and settles as the task does. Rejects with `overloaded` if the queue is
   * full or the wait was too long; with 50302 if no task succeeded during that wait; with 40000 if a queued task is no
   * longer wanted.
   */
  run<Result>(task: () => Result | Promise<Result>, options: RunOptions = {}): Promise<Result> {
    if (this.#closedWith !== undefined) return Promise.reject(this.#closedWith)
    const { slices } = this.#options
    if (slices !== undefined && this.queued === 0 && slices.hasTime()) return runInSlice(slices, task)
    const caller = this.#rotation.callerOf(options.caller)
    if (slices === undefined && caller.queued.length === 0 && this.#takeSlot(caller)) {
      return this.#runInSlot(caller, task)
    }
    if (this.#makeRoom(caller)) return this.#enqueue(caller, task, options.isWanted)
    this.#rotation.forgetIfIdle(caller)
    return Promise.reject(this.#options.overloaded)
  }

  /** Takes a slot and fulfils with the function that releases it. Rejects as `run` does. */
  takeSlot(options?: RunOptions): Promise<() => void> {
    return new Promise((resolve, reject) => {
      this.run(() => new Promise<void>(resolve), options).catch(reject)
    })
  }

  /** Rejects the queued tasks and every later task with this error. Running tasks continue. */
  close(error: AppError): void {
    this.#closedWith = error
    for (const task of this.#rotation.clear()) rejectQueued(task, error)
  }

  #takeSlot(caller: Caller<QueuedTask>): boolean {
    if (this.#running >= this.#slots) return false
    if (caller.id !== undefined && caller.running >= this.#slotsOfCaller) return false
    if (this.#options.sharedSlots?.take() === false) return false
    this.#running++
    caller.running++
    return true
  }

  #releaseSlot(caller: Caller<QueuedTask>): void {
    this.#running--
    caller.running--
    this.#rotation.forgetIfIdle(caller)
    const { sharedSlots } = this.#options
    if (sharedSlots !== undefined) sharedSlots.release()
    else if (this.queued > 0) this.#startSoon()
  }

  #runInSlot<Result>(caller: Caller<QueuedTask>, task: () => Result | Promise<Result>): Promise<Result> {
    let result: Result | Promise<Result>
    try {
      result = task()
    } catch (error) {
      this.#releaseSlot(caller)
      return Promise.reject(error)
    }
    if (result instanceof Promise) {
      result.then(
        () => this.#succeed(caller),
        () => this.#releaseSlot(caller),
      )
      return result
    }
    this.#succeed(caller)
    return Promise.resolve(result)
  }

  #succeed(caller: Caller<QueuedTask>): void {
    this.#succeeded++
    this.#releaseSlot(caller)
  }

  #enqueue<Result>(
    caller: Caller<QueuedTask>,
    task: () => Result | Promise<Result>,
    isWanted: (() => boolean) | undefined,
  ): Promise<Result> {
    return new Promise((resolve, reject) => {
      const queued: QueuedTask = {
        caller,
        start: () => {
          if (isWanted?.() !== false) {
            resolve(this.#runInSlot(caller, task))
          } else {
            this.#releaseSlot(caller)
            reject(new AppError(40000, 'The client has disconnected.'))
          }
        },
        reject,
        timer: undefined,
      }
      this.#limitWait(queued)
      this.#rotation.push(caller, queued)
      if (this.#options.slices !== undefined) this.#startSoon()
    })
  }

  #limitWait(task: QueuedTask): void {
    const { waitMaxMs, overloaded } = this.#options
    if (waitMaxMs === undefined) return
    const succeededBefore = this.#succeeded
    task.timer = setTimeout(() => {
      this.#rotation.remove(task.caller, task)
      task.reject(this.#succeeded > succeededBefore ? overloaded : new AppError(50302))
    }, waitMaxMs)
  }

  /** Whether one more task of the caller may be queued. May displace the newest task of another caller. */
  #makeRoom(caller: Caller<QueuedTask>): boolean {
    if (this.queued < this.#options.queuedMax) return true
    const displaced = this.#rotation.displaceFor(caller)
    if (displaced === undefined) return false
    rejectQueued(displaced, this.#options.overloaded)
    return true
  }

  #startSoon(): void {
    const { slices } = this.#options
    if (slices === undefined) this.#startNext()
    else slices.runLater(() => this.#startNext())
  }

  #startNext(): boolean {
    const next = this.#rotation.takeNext((caller) => this.#takeSlot(caller))
    if (next === undefined) return false
    clearTimeout(next.timer)
    next.start()
    return true
  }
}

function runInSlice<Result>(slices: EventLoopSlices, task: () => Result | Promise<Result>): Promise<Result> {
  try {
    return Promise.resolve(slices.runNow(task))
  } catch (error) {
    return Promise.reject(error)
  }
}

function rejectQueued(task: QueuedTask, error: AppError): void {
  clearTimeout(task.timer)
  task.reject(error)
}
