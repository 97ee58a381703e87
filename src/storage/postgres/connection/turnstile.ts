import { AppError } from '../../../errors.ts'

/**
 * Beyond this, one more is refused at once: what waits is memory, and the last of so many reads waits for a large
 * part of a second where each is a plant, and longer where it is a page.
 */
const WAITING_MAX = 4_000

export interface TurnstileOptions {
  /** How many may be inside at once. */
  placesMax: number
  /** How long one waits for a place. */
  waitMaxMs: number
}

/** Lets so many in at once, in the order in which they came. */
export interface Turnstile {
  /**
   * Runs the work when there is a place for it. Rejects as the work does; when there was no place in time, with
   * 50301, or with 50302 where nobody came out meanwhile.
   */
  pass<Result>(work: () => Promise<Result>): Promise<Result>
}

export function createTurnstile({ placesMax, waitMaxMs }: TurnstileOptions): Turnstile {
  let inside = 0
  let finished = 0
  /** Each is told when it may go in; a set keeps the order, and loses one in the middle without a search. */
  const waiting = new Set<() => void>()

  function waitForPlace(): Promise<void> {
    if (waiting.size >= WAITING_MAX) return Promise.reject(overloaded())
    const finishedBefore = finished
    return new Promise((resolve, reject) => {
      const enter = () => {
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(() => {
        waiting.delete(enter)
        reject(finished > finishedBefore ? overloaded() : new AppError(50302))
      }, waitMaxMs)
      waiting.add(enter)
    })
  }

  /** Hands the place on, or gives it up. */
  function leave(): void {
    const [next] = waiting
    if (next === undefined) {
      inside--
    } else {
      waiting.delete(next)
      next()
    }
  }

  return {
    async pass(work) {
      if (inside < placesMax) inside++
      else await waitForPlace()
      try {
        const result = await work()
        finished++
        return result
      } finally {
        leave()
      }
    },
  }
}

function overloaded(): AppError {
  return new AppError(50301, 'Too many reads are waiting; try again in a moment.', {
    reason: 'queued-reads',
  })
}
