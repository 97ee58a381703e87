import type { IncomingMessage } from 'node:http'
import { AppError } from '../errors.ts'
import { canBeAnswered } from '../http/request/can-be-answered.ts'
import { createEventLoopSlices } from './event-loop-slices.ts'

/** Beyond this, one more is refused at once: of so many large pages the last would wait for ten seconds. */
const WAITING_MAX = 4_000

export interface ReadTurnsOptions {
  /** How many may be under way, for those that go on elsewhere: each holds what it has read. Any number by default. */
  underWayMax?: number
  waitingMax?: number
}

/**
 * Runs a read, at once while this turn of the event loop has time for it, else in a turn to come. Rejects as the read does;
 * with 50301 where too many wait already, and with 40000 when the client has gone away before its turn.
 */
export type TakeTurn = <Result>(request: IncomingMessage, read: () => Promise<Result>) => Promise<Result>

/**
 * Turns for reads of one kind, as nothing interrupts one that has begun: so many connections may ask for one at the same
 * moment, others are served between. Reads of another kind do not wait behind these.
 */
export function createReadTurns({
  underWayMax = Number.POSITIVE_INFINITY,
  waitingMax = WAITING_MAX,
}: ReadTurnsOptions = {}): TakeTurn {
  const turns = createEventLoopSlices()
  /** What waits until one of those under way is over, in order. */
  const held: (() => void)[] = []
  let underWay = 0

  function letIn(): void {
    while (underWay < underWayMax) {
      const task = held.shift()
      if (task === undefined) return
      underWay++
      turns.runLater(task)
    }
  }

  function leave(): void {
    underWay--
    letIn()
  }

  function runNow<Result>(read: () => Promise<Result>): Promise<Result> {
    const result = turns.runNow(read)
    if (underWayMax === Number.POSITIVE_INFINITY) return result
    underWay++
    return result.finally(leave)
  }

  return (request, read) => {
    if (held.length === 0 && underWay < underWayMax && turns.hasTime()) return runNow(read)
    if (held.length + turns.waiting >= waitingMax) {
      return Promise.reject(
        new AppError(50301, 'Too many reads are waiting; try again in a moment.', { reason: 'queued-reads' }),
      )
    }
    return new Promise((resolve, reject) => {
      held.push(() => {
        if (canBeAnswered(request)) read().then(resolve, reject).finally(leave)
        else {
          leave()
          reject(new AppError(40000, 'The client has gone away.'))
        }
      })
      letIn()
    })
  }
}
