import type { IncomingMessage } from 'node:http'
import { AppError } from '../errors.ts'
import { createFairTurns } from './fair-turns.ts'
import { canBeAnswered } from './request-order.ts'

/** Beyond this, one more is refused at once: of so many large pages the last would wait for ten seconds. */
const WAITING_MAX = 4_000

/**
 * Runs a read, at once while this turn of the event loop has time for it, else in a turn to come. Rejects as the read does;
 * with 50301 where too many wait already, and with 40000 when the client has gone away before its turn.
 */
export type TakeTurn = <Result>(request: IncomingMessage, read: () => Promise<Result>) => Promise<Result>

/**
 * Turns for reads of one kind, as nothing interrupts one that has begun: so many connections may ask for one at the same
 * moment, others are served between. Reads of another kind do not wait behind these.
 */
export function createReadTurns(): TakeTurn {
  const turns = createFairTurns()

  return (request, read) => {
    if (turns.hasTime()) return turns.runNow(read)
    if (turns.waiting >= WAITING_MAX) {
      return Promise.reject(
        new AppError(50301, 'Too many reads are waiting; try again in a moment.', { reason: 'queued-reads' }),
      )
    }
    return new Promise((resolve, reject) => {
      turns.runLater(() => {
        if (canBeAnswered(request)) read().then(resolve, reject)
        else reject(new AppError(40000, 'The client has gone away.'))
      })
    })
  }
}
