import { AppError } from '../../errors.ts'
import type { CommitLag } from './commit-lag.ts'

/** Operations in a batch: enough to share an fsync among all connections, few enough for a short commit. */
const BATCH_OPERATIONS_MAX = 512
/** Long names fill a batch sooner: it is copied to the writer at once, and the next one waits for it. */
const BATCH_CHARACTERS_MAX = 4 * 1024 * 1024
/** Together with the number of operations this limits the memory of the queue. */
const QUEUE_CHARACTERS_MAX = 64 * 1024 * 1024

export interface GroupCommitOptions<Operation, Outcome> {
  /**
   * Performs the operations in order and commits them together. Fulfils with an outcome for each, or with the error of
   * an operation that was rejected alone. If it rejects, none is stored.
   */
  commit(batch: readonly Operation[]): Promise<readonly (Outcome | AppError)[]>
  /** Operations that may be queued; one more is rejected with 50301. */
  queueMax: number
  /** Estimates how long a new operation would be queued. */
  lag: CommitLag
  /** The size of an operation: batches and queue are limited in characters, too. */
  charactersOf(operation: Operation): number
}

/**
 * Shares commits between concurrent writes: the next batch gathers while one is being committed. The more writes there
 * are, the less each one costs. Operations are committed in the order in which they were submitted.
 */
export interface GroupCommit<Operation, Outcome> {
  /**
   * Fulfils with the operation's outcome when its batch is durable. Rejects if the batch failed, or with 50301 if the
   * queue is full. A caller that limits its queued operations itself passes `isPaced`, which the queue always accepts.
   */
  submit(operation: Operation, options?: { isPaced: boolean }): Promise<Outcome>
  /** Operations that wait for a commit, without those in the running one. */
  queued(): number
  /** Calls `listener` after every commit from now on, before its operations settle. */
  onCommit(listener: (commit: CommitReport) => void): void
  /** Whether a new operation would wait too long for its commit. It is accepted all the same. */
  isLagging(): boolean
  /** Fulfils when every operation submitted so far has settled. */
  drain(): Promise<void>
}

/** A commit that has ended. */
export interface CommitReport {
  /** Operations in it; a chunk of an import is one. */
  operations: number
  /** From the start of the commit until the batch was durable or had failed. */
  durationMs: number
  isDurable: boolean
}

interface Waiting<Outcome> {
  resolve(outcome: Outcome): void
  reject(reason: unknown): void
}

export function createGroupCommit<Operation, Outcome>(
  options: GroupCommitOptions<Operation, Outcome>,
): GroupCommit<Operation, Outcome> {
  let operations: Operation[] = []
  let waiting: Waiting<Outcome>[] = []
  let waitingCharacters = 0
  let isCommitting = false
  let isScheduled = false
  let idleListeners: (() => void)[] = []
  const listeners: ((commit: CommitReport) => void)[] = []

  /** Takes the next batch off the queue. */
  function takeBatch(): [Operation[], Waiting<Outcome>[]] {
    if (operations.length <= BATCH_OPERATIONS_MAX && waitingCharacters <= BATCH_CHARACTERS_MAX) {
      const all: [Operation[], Waiting<Outcome>[]] = [operations, waiting]
      operations = []
      waiting = []
      waitingCharacters = 0
      return all
    }
    const { count, characters } = measureBatch(operations, options.charactersOf)
    waitingCharacters -= characters
    return [operations.splice(0, count), waiting.splice(0, count)]
  }

  function report(operations: number, startMs: number, isDurable: boolean): void {
    const durationMs = performance.now() - startMs
    for (const listener of listeners) listener({ operations, durationMs, isDurable })
  }

  async function commitNext(): Promise<void> {
    isScheduled = false
    if (isCommitting || operations.length === 0) return
    isCommitting = true
    const [batch, batchWaiting] = takeBatch()
    const startMs = performance.now()
    options.lag.begin()
    try {
      const outcomes = await options.commit(batch)
      options.lag.end(true)
      report(batch.length, startMs, true)
      for (const [at, one] of batchWaiting.entries()) settle(one, outcomes[at] as Outcome | AppError)
    } catch (error) {
      options.lag.end(false)
      report(batch.length, startMs, false)
      for (const one of batchWaiting) one.reject(error)
    }
    isCommitting = false
    if (operations.length > 0) {
      void commitNext()
    } else {
      for (const resolve of idleListeners) resolve()
      idleListeners = []
    }
  }

  return {
    submit(operation, { isPaced } = { isPaced: false }) {
      const isFull = operations.length >= options.queueMax || waitingCharacters > QUEUE_CHARACTERS_MAX
      if (isFull && !isPaced) return Promise.reject(tooMany())
      return new Promise<Outcome>((resolve, reject) => {
        operations.push(operation)
        waitingCharacters += options.charactersOf(operation)
        waiting.push({ resolve, reject })
        if (isCommitting || isScheduled) return
        isScheduled = true
        // Deferred, so that other writes of this turn of the event loop join the batch.
        setImmediate(commitNext)
      })
    },
    queued: () => operations.length,
    isLagging() {
      const batches = Math.max(
        operations.length / BATCH_OPERATIONS_MAX,
        waitingCharacters / BATCH_CHARACTERS_MAX,
      )
      return options.lag.isTooLong({ writes: operations.length, batches: Math.floor(batches) })
    },
    onCommit: (listener) => void listeners.push(listener),
    drain() {
      if (!isCommitting && operations.length === 0) return Promise.resolve()
      return new Promise((resolve) => idleListeners.push(resolve))
    },
  }
}

function settle<Outcome>(one: Waiting<Outcome>, outcome: Outcome | AppError): void {
  if (outcome instanceof AppError) one.reject(outcome)
  else one.resolve(outcome)
}

function tooMany(): AppError {
  return new AppError(50301, 'Too many writes are queued. Retry in a moment.', {
    reason: 'queued-writes',
  })
}

/** How many operations the next batch takes off the queue. */
function measureBatch<Operation>(
  operations: readonly Operation[],
  charactersOf: (operation: Operation) => number,
): { count: number; characters: number } {
  let count = 0
  let characters = 0
  while (count < Math.min(operations.length, BATCH_OPERATIONS_MAX)) {
    const more = charactersOf(operations[count] as Operation)
    if (count > 0 && characters + more > BATCH_CHARACTERS_MAX) break
    characters += more
    count++
  }
  return { count, characters }
}
