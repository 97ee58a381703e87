import { AppError } from '../../errors.ts'
import type { CommitLag } from './commit-lag.ts'

/**
 * Rows of one commit: enough to share an fsync among every connection, few enough that none waits long for
 * it.
 */
const BATCH_OPERATIONS_MAX = 512
/**
 * Where names are long fewer are enough: a batch is copied to the writer at once, and the next one waits for
 * it.
 */
const BATCH_CHARACTERS_MAX = 4 * 1024 * 1024
/** Together with the number of operations this bounds the memory that waiting writes take. */
const QUEUE_CHARACTERS_MAX = 64 * 1024 * 1024

export interface GroupCommitOptions<Operation, Outcome> {
  /**
   * Performs the operations in order and commits them together: one outcome each, or the error of one that was
   * rejected alone. If it rejects, none of them is stored.
   */
  commit(batch: readonly Operation[]): Promise<readonly (Outcome | AppError)[]>
  /** Operations that may wait for a commit; one more is refused with 50301. */
  queueMax: number
  /** Foresees how long what is submitted would have to wait. */
  lag: CommitLag
  /** The size of an operation: batch and queue are bounded in characters, too. */
  charactersOf(operation: Operation): number
}

/**
 * Shares commits between concurrent writes: while one batch is being committed the next gathers, so that the
 * more writes there are, the fewer commits each one costs. Operations keep the order in which they were
 * submitted.
 */
export interface GroupCommit<Operation, Outcome> {
  /**
   * Fulfils with the operation's outcome when its batch is durable; rejects when the batch failed, or with
   * 50301, unless whoever submits it sees to it by itself that only few wait (`isPaced`).
   */
  submit(operation: Operation, options?: { isPaced: boolean }): Promise<Outcome>
  /** Operations that wait for a commit, those aside that are being committed. */
  queued(): number
  /** Has `tell` told of every commit from now on, as it ends, before whoever submitted its operations is. */
  onCommit(tell: (commit: CommitReport) => void): void
  /** Whether what is submitted now would wait too long for its commit; it is taken all the same. */
  isLagging(): boolean
  /** Fulfils when everything submitted so far has its outcome. */
  drain(): Promise<void>
}

/** A commit that has ended. */
export interface CommitReport {
  /** Operations in it; a step of an import is one. */
  operations: number
  /** From the hand-over of the batch until it was durable, or had failed. */
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
  let onIdle: (() => void)[] = []
  const listeners: ((commit: CommitReport) => void)[] = []

  /** Takes the operations that are committed next off the queue. */
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
    for (const tell of listeners) tell({ operations, durationMs, isDurable })
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
      for (const tell of onIdle) tell()
      onIdle = []
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
        // Not at once: what else has arrived in this turn of the event loop comes along.
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
    onCommit(tell) {
      listeners.push(tell)
    },
    drain() {
      if (!isCommitting && operations.length === 0) return Promise.resolve()
      return new Promise((resolve) => onIdle.push(resolve))
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
