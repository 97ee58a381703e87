import { RequestError } from './request-error.ts'

/** The longest delay of setTimeout. A longer timeout means none. */
const TIMER_MS_MAX = 2 ** 31 - 1

/** Aborts a call that takes too long, or that the caller aborts. */
export interface TimeLimit {
  /** Aborted by the caller's signal with its reason, or at the timeout with a RequestError. */
  readonly signal: AbortSignal
  /** Milliseconds until the timeout. */
  leftMs(): number
  /** Starts the timeout again, unless it is over. */
  restart(): void
  /** Stops the clock until `restart`. */
  hold(): void
  /** Releases the timer and the caller's signal, and aborts what still runs. */
  end(): void
}

/** The calls that a signal aborts. They share one listener, because Node 20 warns of many. */
const CALLS = new WeakMap<EventTarget, Set<AbortController>>()

function abortCalls({ target }: Event): void {
  const signal = target as AbortSignal
  for (const call of CALLS.get(signal) ?? []) call.abort(signal.reason)
}

/** Makes the signal abort that call, too. Returns a function that undoes it. */
function listen(signal: AbortSignal, call: AbortController): () => void {
  const calls = CALLS.get(signal) ?? new Set()
  CALLS.set(signal, calls.add(call))
  signal.addEventListener('abort', abortCalls)
  return () => {
    calls.delete(call)
    if (calls.size === 0) signal.removeEventListener('abort', abortCalls)
  }
}

/** Returns a number above 0. Throws a TypeError for anything else. */
export function positive(name: string, value: number): number {
  if (typeof value === 'number' && value > 0) return value
  throw new TypeError(`${name} must be a number above 0`)
}

/** Throws the reason of a signal that is already aborted, and as `positive` for an invalid timeout. */
export function limitTime(timeoutMs: number, callerSignal: AbortSignal | undefined): TimeLimit {
  positive('timeoutMs', timeoutMs)
  callerSignal?.throwIfAborted()
  // Node 20.0 and browsers of 2023 have no AbortSignal.any.
  const controller = new AbortController()
  const stopListening = callerSignal && listen(callerSignal, controller)
  let timer: ReturnType<typeof setTimeout> | undefined
  let endMs = Number.POSITIVE_INFINITY
  const limit: TimeLimit = {
    signal: controller.signal,
    leftMs: () => endMs - Date.now(),
    restart() {
      limit.hold()
      if (timeoutMs > TIMER_MS_MAX || controller.signal.aborted) return
      endMs = Date.now() + timeoutMs
      timer = setTimeout(() => {
        controller.abort(new RequestError(`No response within ${timeoutMs} ms`, { kind: 'timeout' }))
      }, timeoutMs)
    },
    hold() {
      clearTimeout(timer)
      endMs = Number.POSITIVE_INFINITY
    },
    end() {
      limit.hold()
      stopListening?.()
      controller.abort()
    },
  }
  limit.restart()
  return limit
}

/** Fulfils like the promise, unless the signal is aborted first: then it throws the reason of the signal. */
export async function orAborted<T>(promise: T | Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = () => {}
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop)
  })
  if (signal.aborted) stop()
  try {
    return await Promise.race([aborted, promise])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** Waits, unless the signal is aborted first: then it throws the reason of the signal. */
export async function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  const alarm = setAlarm(delayMs)
  await orAborted(alarm.rung, signal).finally(alarm.clear)
}

interface Alarm {
  rung: Promise<undefined>
  clear(): void
}

/** Rings once. Clears `before`, which it replaces. */
export function setAlarm(delayMs: number, before?: Alarm): Alarm {
  before?.clear()
  let timer: ReturnType<typeof setTimeout> | undefined
  const rung = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, delayMs, undefined)
  })
  return { rung, clear: () => clearTimeout(timer) }
}
