import { AppError } from '../errors.ts'

/** Rows of one commit: enough to share an fsync among every connection, few enough that none waits long for it. */
const BATCH_OPERATIONS_MAX = 512

export interface GroupCommitOptions<Operation, Outcome> {
  /** Performs the operations in order and commits them together: one outcome each, or none of them is stored. */
  commit(batch: readonly Operation[]): Promise<readonly Outcome[]>
  /** Operations that may wait for a commit; one more is refused with 50301. */
  queueMax: number
}

/**
 * Shares commits between concurrent writes: while one batch is being committed the next gathers, so that the more
 * writes there are, the fewer commits each one costs. Operations keep the order in which they were submitted.
 */
export interface GroupCommit<Operation, Outcome> {
  /** Fulfils with the operation's outcome when its batch is durable; rejects when the batch failed, or with 50301. */
  submit(operation: Operation): Promise<Outcome>
  /** Fulfils when everything submitted so far has its outcome. */
  drain(): Promise<void>
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
  let isCommitting = false
  let isScheduled = false
  let onIdle: (() => void)[] = []

  async function commitNext(): Promise<void> {
    isScheduled = false
    if (isCommitting || operations.length === 0) return
    isCommitting = true
    const batch =
      operations.length > BATCH_OPERATIONS_MAX ? operations.splice(0, BATCH_OPERATIONS_MAX) : operations
    const batchWaiting = batch === operations ? waiting : waiting.splice(0, BATCH_OPERATIONS_MAX)
    if (batch === operations) {
      operations = []
      waiting = []
    }
    try {
      const outcomes = await options.commit(batch)
      for (const [at, one] of batchWaiting.entries()) one.resolve(outcomes[at] as Outcome)
    } catch (error) {
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
    submit(operation) {
      if (operations.length >= options.queueMax) {
        return Promise.reject(new AppError(50301, 'Too many writes are waiting; try again in a moment.'))
      }
      return new Promise<Outcome>((resolve, reject) => {
        operations.push(operation)
        waiting.push({ resolve, reject })
        if (isCommitting || isScheduled) return
        isScheduled = true
        // Not at once: what else has arrived in this turn of the event loop comes along.
        setImmediate(commitNext)
      })
    },
    drain() {
      if (!isCommitting && operations.length === 0) return Promise.resolve()
      return new Promise((resolve) => onIdle.push(resolve))
    },
  }
}
