import { AppError } from '../../src/errors.ts'
import { BoundedQueue, type BoundedQueueOptions, type RunOptions } from '../../src/load/bounded-queue.ts'

/** The error of a full queue of `queueOf`. */
export const OVERLOADED = new AppError(50301, 'Too many reads are queued.', { reason: 'queued-reads' })

export function queueOf(options: Partial<BoundedQueueOptions> = {}): BoundedQueue {
  return new BoundedQueue({ queuedMax: 100, overloaded: OVERLOADED, ...options })
}

/** Runs tasks in a queue that end at a call of `end`, and lists those that have started. */
export function startTasks(queue: BoundedQueue) {
  const started: string[] = []
  const ends = new Map<string, PromiseWithResolvers<string>>()
  return {
    started,
    run(name: string, options?: RunOptions): Promise<string> {
      return queue.run(() => {
        started.push(name)
        const end = Promise.withResolvers<string>()
        ends.set(name, end)
        return end.promise
      }, options)
    },
    async end(name: string): Promise<void> {
      ends.get(name)?.resolve(name)
      await ends.get(name)?.promise
    },
    fail: (name: string) => ends.get(name)?.reject(new Error(`${name} failed`)),
  }
}
