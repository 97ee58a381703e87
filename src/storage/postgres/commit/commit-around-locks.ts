import { AppError } from '../../../errors.ts'
import type { PlantWrite, PlantWriteOutcome } from '../../batching/plant-write.ts'
import { LockedError } from '../connection/failure.ts'

/** How long a part of a batch waits for locks, once the whole batch has met one that is held. */
const PART_LOCK_TIMEOUT_MS = 50
/**
 * Waits for locks until the rest of a batch is rejected: then the whole table is locked, or many plants. One plant
 * among the writes of a batch is found with ten.
 */
const LOCK_WAITS_MAX = 20
/** Writes of a plant that was locked are committed apart from the others for so long. */
const LOCKED_REMEMBERED_MS = 10_000
/** Plants that are remembered as locked. More at a time are not of single plants. */
const LOCKED_PLANTS_MAX = 1_000

/**
 * Commits a batch in its order; waits for each lock for `lockTimeoutMs` instead of the connection's own limit, where it
 * is given. Rejects with a LockedError, and then nothing is stored.
 */
export type CommitBatch = (
  batch: readonly PlantWrite[],
  lockTimeoutMs?: number,
) => Promise<PlantWriteOutcome[]>

/**
 * Commits batches so that a plant that another session has locked, or an id whose transaction is in doubt, fails only
 * the writes of that plant: they get a LockedError (503), and the others of the batch are committed without them.
 */
export function createCommitAroundLocks(
  commit: CommitBatch,
): (batch: readonly PlantWrite[]) => Promise<(PlantWriteOutcome | AppError)[]> {
  /** When each plant that was locked is committed with the others again. */
  const lockedUntilMs = new Map<bigint, number>()

  function isLocked(write: PlantWrite): boolean {
    if (write.kind === 'import') return false
    const untilMs = lockedUntilMs.get(write.id)
    if (untilMs !== undefined && untilMs < performance.now()) lockedUntilMs.delete(write.id)
    return lockedUntilMs.has(write.id)
  }

  function remember(write: PlantWrite): void {
    if (write.kind === 'import') return
    if (lockedUntilMs.size >= LOCKED_PLANTS_MAX) lockedUntilMs.clear()
    lockedUntilMs.set(write.id, performance.now() + LOCKED_REMEMBERED_MS)
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
        return [failure]
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
    if (lockedUntilMs.size === 0) return commitTogether(batch)
    const isApart = batch.map(isLocked)
    const together = batch.filter((_, at) => !isApart[at])
    const outcomes = together.length === 0 ? [] : await commitTogether(together)
    const apart = batch.filter((_, at) => isApart[at])
    const outcomesApart = await commitHalves(apart)
    return isApart.map((apart) => (apart ? outcomesApart : outcomes).shift() as PlantWriteOutcome | AppError)
  }
}
