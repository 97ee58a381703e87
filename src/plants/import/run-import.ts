import { AppError, type ErrorDetails, type FieldError, type WriteOutcome } from '../../errors.ts'
import type { ImportOutcome, PlantStore } from '../plant-store.ts'
import { createImportChunks, type ImportChunks } from './import-chunks.ts'
import type { ImportRows, RowFailure } from './import-rows.ts'

/** For a row whose id is already used: it fails, is skipped, or replaces the stored plant. */
export const CONFLICT_RULES = ['fail', 'skip', 'replace'] as const
export type ConflictRule = (typeof CONFLICT_RULES)[number]

const ID_USED: readonly FieldError[] = [{ name: 'id', rule: 'unique' }]

/** The results of the rows so far. */
export interface ImportCounts {
  created: number
  replaced: number
  /** Rows that were skipped, because their id is already used. */
  skipped: number
  /** Rows that were not stored. */
  failed: number
}

export interface PlantImportRun {
  plants: Pick<PlantStore, 'openImport'>
  onConflict: ConflictRule
  /** If true, nothing is stored and the counts are what they would be. */
  dryRun: boolean
  /** The rows, read no faster than they are stored. The signal aborts the reading. */
  rows(signal: AbortSignal): AsyncIterable<ImportRows>
  /**
   * Called after each chunk, with its failed rows in the order of their lines, the counts so far, and the line after
   * the chunk. The import waits for the promise and fails if it rejects.
   */
  onSettled(
    failures: readonly RowFailure[],
    counts: Readonly<ImportCounts>,
    nextLine: number,
  ): Promise<void> | undefined
}

/**
 * Stores all rows. A row that cannot be stored fails, and the others continue. An error that ends the import, in the
 * rows or in the store, is thrown as an AppError with the progress of the import in its details.
 */
export async function runPlantImport(run: PlantImportRun): Promise<ImportCounts> {
  const { plants, onConflict, dryRun, rows, onSettled } = run
  const counts: ImportCounts = { created: 0, replaced: 0, skipped: 0, failed: 0 }
  let settledLine = 1
  const stop = new AbortController()
  const importing = plants.openImport({ onConflict: onConflict === 'replace' ? 'replace' : 'keep', dryRun })
  const chunks = createImportChunks({
    add: (some) => importing.add(some),
    settle(chunk, outcomes) {
      const failures = settleChunk(chunk, outcomes, onConflict, counts)
      settledLine = chunk.nextLine
      return onSettled(failures, counts, settledLine)
    },
    onFailure: () => stop.abort(),
  })
  let failure: { error: unknown } | undefined
  try {
    for await (const some of rows(stop.signal)) await chunks.take(some)
  } catch (error) {
    failure = { error }
  }
  try {
    // Stores the valid rows before the error.
    await chunks.end()
  } catch (error) {
    failure = { error }
  }
  await importing.close()
  if (failure === undefined) return counts
  const outcome = await outcomeOf(run, settledLine, chunks)
  throw withProgress(failure.error, { line: settledLine, counts: { ...counts }, outcome })
}

/** Counts the rows of a stored chunk, and returns the failed ones. */
function settleChunk(
  chunk: ImportRows,
  outcomes: readonly ImportOutcome[],
  onConflict: ConflictRule,
  counts: ImportCounts,
): readonly RowFailure[] {
  const { plants, lines, failures } = chunk
  const taken: RowFailure[] = []
  for (let at = 0; at < outcomes.length; at++) {
    const outcome = outcomes[at]
    if (outcome === 'created') counts.created++
    else if (outcome === 'replaced') counts.replaced++
    else if (onConflict === 'skip') counts.skipped++
    else {
      const id = plants[at]?.id
      taken.push({
        line: lines[at] ?? 0,
        id,
        code: 40901,
        message: `The id ${id} is already used.`,
        fields: ID_USED,
      })
    }
  }
  counts.failed += failures.length + taken.length
  if (taken.length === 0) return failures
  if (failures.length === 0) return taken
  return [...failures, ...taken].sort((one, other) => one.line - other.line)
}

/** What an import stored that failed, with the rows before `settledLine` stored, skipped or reported. */
async function outcomeOf(
  { dryRun }: PlantImportRun,
  settledLine: number,
  chunks: ImportChunks,
): Promise<WriteOutcome> {
  if (dryRun) return 'none'
  if ((await chunks.outcomeOfUnsettled()) === 'unknown') return 'unknown'
  return settledLine === 1 ? 'none' : 'stored-before-line'
}

/** The error with the progress of the import in its details. */
function withProgress(error: unknown, progress: Pick<ErrorDetails, 'counts' | 'line' | 'outcome'>): AppError {
  if (!(error instanceof AppError)) {
    return new AppError(50001, undefined, { cause: error, details: progress })
  }
  const { code, message, headers, reason, cause, details } = error
  return new AppError(code, message, {
    headers,
    cause,
    details: { ...details, ...progress },
    ...(reason && { reason }),
  })
}
