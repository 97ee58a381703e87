import { AppError } from '../../../errors.ts'
import { keyOf } from '../../batching/plan-batch.ts'
import type { PlantWrite, PlantWriteOutcome } from '../../batching/plant-write.ts'
import { LockedError } from '../connection/failure.ts'

/** How long a part of a batch waits for locks, once the whole batch has met one that is held. */
const PART_LOCK_TIMEOUT_MS = 50
/**
 * Waits for locks until the rest of a batch is rejected: then the whole table is locked, or many plants. One plant
 * among the writes of a batch is found with ten.
 */
const LOCK_WAITS_MAX = 20
/** Writes that need what was locked are committed apart from the others for so long. */
const LOCKED_REMEMBERED_MS = 10_000
/** Ids and keys that are remembered as locked: those of ten chunks of imports. */
const LOCKED_MAX = 10_000

/**
 * Commits a batch in its order; waits for each lock for `lockTimeoutMs` instead of the connection's own limit, where it
 * is given. Rejects with a LockedError, and then nothing is stored.
 */
export type CommitBatch = (
  batch: readonly PlantWrite[],
  lockTimeoutMs?: number,
) => Promise<PlantWriteOutcome[]>

/**
 * Commits batches so that a plant or an idempotency key that another session has locked, or an id whose transaction is
 * in doubt, fails only the writes that need it: they get a LockedError (503), and the others of the batch are committed
 * without them.
 */
export function createCommitAroundLocks(
  commit: CommitBatch,
): (batch: readonly PlantWrite[]) => Promise<(PlantWriteOutcome | AppError)[]> {
  /** When each id or key that was locked is committed with the others again, the earliest time first. */
  const lockedUntilMs = new Map<bigint | string, number>()

  function forgetExpired(): void {
    const nowMs = performance.now()
    for (const [one, untilMs] of lockedUntilMs) {
      if (untilMs > nowMs) return
      lockedUntilMs.delete(one)
    }
  }

  function isLocked(write: PlantWrite): boolean {
    return lockableOf(write).some((one) => lockedUntilMs.has(one))
  }

  function remember(write: PlantWrite): void {
    const lockable = lockableOf(write)
    if (lockedUntilMs.size + lockable.length > LOCKED_MAX) lockedUntilMs.clear()
    const untilMs = performance.now() + LOCKED_REMEMBERED_MS
    for (const one of lockable) {
      // Moves it to the end.
      lockedUntilMs.delete(one)
      lockedUntilMs.set(one, untilMs)
    }
  }

  /** Commits halves of the batch, and halves of those, until the locked writes are alone. Never rejects. */
  async function commitHalves(
    batch: readonly PlantWrite[],
    waits = { left: LOCK_WAITS_MAX },
  ): Promise<(PlantWriteOutcome | AppError)[]> {
    try {
      if (waits.left === 0) throw new LockedError()
      return await commit(batch, PART_LOCK_TIMEOUT_MS)
    } catch (error) {
      const failure = error instanceof AppError ? error : new AppError(50001, undefined, { cause: error })
      if (!(failure instanceof LockedError) || waits.left === 0) return batch.map(() => failure)
      waits.left--
      const [only] = batch
      if (batch.length === 1 && only !== undefined) {
        remember(only)
        return [new LockedError(describeLockable(only), failure.cause)]
      }
      const middle = batch.length >> 1
      const first = await commitHalves(batch.slice(0, middle), waits)
      return [...first, ...(await commitHalves(batch.slice(middle), waits))]
    }
  }

  async function commitTogether(batch: readonly PlantWrite[]): Promise<(PlantWriteOutcome | AppError)[]> {
    try {
      return await commit(batch)
    } catch (error) {
      if (!(error instanceof LockedError)) throw error
      return commitHalves(batch)
    }
  }

  return async (batch) => {
    forgetExpired()
    if (lockedUntilMs.size === 0) return commitTogether(batch)
    // Chunks stay in their order, as a later one of the same import may replace plants of the earlier one.
    const isImportLocked = batch.some((write) => write.kind === 'import' && isLocked(write))
    const isApart = batch.map((write) => (write.kind === 'import' ? isImportLocked : isLocked(write)))
    const together = batch.filter((_, at) => !isApart[at])
    const outcomes = together.length === 0 ? [] : await commitTogether(together)
    const apart = batch.filter((_, at) => isApart[at])
    const outcomesApart = await commitHalves(apart)
    return isApart.map((apart) => (apart ? outcomesApart : outcomes).shift() as PlantWriteOutcome | AppError)
  }
}

/** The ids and keys of a write. Which of them was locked is not known. */
function lockableOf(write: PlantWrite): (bigint | string)[] {
  if (write.kind === 'import') return [...write.ids]
  if (write.kind !== 'create' || write.idempotency === undefined) return [write.id]
  return [write.id, keyOf(write.idempotency)]
}

function describeLockable(write: PlantWrite): string {
  if (write.kind === 'import') {
    const { length } = write.ids
    return length === 1 ? 'the plant at this line' : `one of the ${length} plants from this line on`
  }
  const hasKey = write.kind === 'create' && write.idempotency !== undefined
  return hasKey ? 'this plant or its Idempotency-Key' : 'this plant'
}
