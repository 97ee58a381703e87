import { RequestError } from './request-error.ts'

/** What setTimeout takes at most; longer is no limit. */
const TIMER_MS_MAX = 2 ** 31 - 1

/** Ends what takes too long, or what the caller no longer wants. */
export interface TimeLimit {
  /** Aborted by the caller's signal, with its reason, or when the time is over, with a RequestError. */
  readonly signal: AbortSignal
  /** What is left until the time is over, in milliseconds. */
  leftMs(): number
  /** Gives the whole time anew, from now; nothing once it is over. */
  restart(): void
  /** Stops the clock until `restart`. */
  hold(): void
  /** Lets go of the clock and of the caller's signal, and of what still runs. */
  end(): void
}

/** The calls that a signal ends. It gets one listener for all of them, as Node 20 warns of many. */
const CALLS = new WeakMap<EventTarget, Set<AbortController>>()

function abortCalls({ target }: Event): void {
  const signal = target as AbortSignal
  for (const call of CALLS.get(signal) ?? []) call.abort(signal.reason)
}

/** Has the signal end that call, too. Gives what lets go of it. */
function listen(signal: AbortSignal, call: AbortController): () => void {
  const calls = CALLS.get(signal) ?? new Set()
  CALLS.set(signal, calls.add(call))
  signal.addEventListener('abort', abortCalls)
  return () => {
    calls.delete(call)
    if (calls.size === 0) signal.removeEventListener('abort', abortCalls)
  }
}

/** The number, where it is one above 0. Throws a TypeError for anything else. */
export function positive(name: string, value: number): number {
  if (typeof value === 'number' && value > 0) return value
  throw new TypeError(`${name} must be a number above 0`)
}

/** Throws the signal's reason at once where it is aborted already, and as `positive` for a time that is none. */
export function limitTime(timeoutMs: number, callerSignal: AbortSignal | undefined): TimeLimit {
  positive('timeoutMs', timeoutMs)
  callerSignal?.throwIfAborted()
  // AbortSignal.any would do, but not in Node 20.0, nor in browsers of 2023.
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
        controller.abort(new RequestError(`No answer within ${timeoutMs} ms`, { kind: 'timeout' }))
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

/** What the promise gives, unless the signal is aborted first: then it throws the signal's reason. */
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

/** Waits, unless the signal is aborted first: then it throws the signal's reason. */
export async function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  const alarm = setAlarm(delayMs)
  await orAborted(alarm.rung, signal).finally(alarm.clear)
}

interface Alarm {
  rung: Promise<undefined>
  clear(): void
}

/** Rings once; the one before it no longer does. */
export function setAlarm(delayMs: number, before?: Alarm): Alarm {
  before?.clear()
  let timer: ReturnType<typeof setTimeout> | undefined
  const rung = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, delayMs, undefined)
  })
  return { rung, clear: () => clearTimeout(timer) }
}
