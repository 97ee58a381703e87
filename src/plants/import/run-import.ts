import { AppError } from '../../errors.ts'
import type { ImportOutcome, PlantStore } from '../plant-store.ts'
import { createImportChunks } from './import-chunks.ts'
import type { ImportRows, RowFailure } from './import-rows.ts'

/** What becomes of a row whose id is taken: it is refused, passed over, or replaces the stored plant. */
export const CONFLICT_RULES = ['fail', 'skip', 'replace'] as const
export type ConflictRule = (typeof CONFLICT_RULES)[number]

/** What became of the rows so far. */
export interface ImportCounts {
  created: number
  replaced: number
  /** Passed over, as their id is taken. */
  skipped: number
  /** Refused. */
  failed: number
}

export interface PlantImportRun {
  plants: Pick<PlantStore, 'openImport'>
  onConflict: ConflictRule
  /** Whether nothing is stored, and only told what would be. */
  dryRun: boolean
  /** The rows as they are read, no faster than they are stored. The signal tells when no more are wanted. */
  rows(signal: AbortSignal): AsyncIterable<ImportRows>
  /**
   * Told of every few rows when they are stored or refused: those refused, in the order of their lines, what became
   * of all so far, and the line behind them. The import waits where it returns a promise, and ends where that rejects.
   */
  tell(
    refusals: readonly RowFailure[],
    counts: Readonly<ImportCounts>,
    nextLine: number,
  ): Promise<void> | undefined
}

/**
 * Stores rows until there are no more. A row that cannot be stored is refused, and the others go on. What makes it
 * senseless to go on, in the rows or in the store, is thrown as an AppError whose message also tells how far the
 * import got: the rows before are stored.
 */
export async function runPlantImport(run: PlantImportRun): Promise<ImportCounts> {
  const { plants, onConflict, dryRun, rows, tell } = run
  const counts: ImportCounts = { created: 0, replaced: 0, skipped: 0, failed: 0 }
  let settledLine = 1
  const stop = new AbortController()
  const importing = plants.openImport({ onConflict: onConflict === 'replace' ? 'replace' : 'keep', dryRun })
  const steps = createImportChunks({
    add: (some) => importing.add(some),
    settle(step, outcomes) {
      const refusals = settleStep(step, outcomes, onConflict, counts)
      settledLine = step.nextLine
      return tell(refusals, counts, settledLine)
    },
    onFailure: () => stop.abort(),
  })
  let failure: { error: unknown } | undefined
  try {
    for await (const some of rows(stop.signal)) await steps.take(some)
  } catch (error) {
    failure = { error }
  }
  try {
    // Rows that were read before a fault are sound.
    await steps.end()
  } catch (error) {
    failure = { error }
  }
  await importing.close()
  if (failure === undefined) return counts
  const howFar = tellHowFar(counts, settledLine, dryRun, steps.hasFailed)
  const { error } = failure
  if (!(error instanceof AppError))
    throw new AppError(50001, `An internal error. ${howFar}`, { cause: error })
  const { code, message, headers, reason, cause } = error
  throw new AppError(code, `${message} ${howFar}`, { headers, cause, ...(reason && { reason }) })
}

/** Counts what became of a step, and gives what was refused of it. */
function settleStep(
  step: ImportRows,
  outcomes: readonly ImportOutcome[],
  onConflict: ConflictRule,
  counts: ImportCounts,
): readonly RowFailure[] {
  const { plants, lines, refusals } = step
  const taken: RowFailure[] = []
  for (let at = 0; at < outcomes.length; at++) {
    const outcome = outcomes[at]
    if (outcome === 'created') counts.created++
    else if (outcome === 'replaced') counts.replaced++
    else if (onConflict === 'skip') counts.skipped++
    else {
      const id = plants[at]?.id
      taken.push({ line: lines[at] ?? 0, id, code: 40901, message: `The id ${id} is taken.` })
    }
  }
  counts.failed += refusals.length + taken.length
  if (taken.length === 0) return refusals
  if (refusals.length === 0) return taken
  return [...refusals, ...taken].sort((one, other) => one.line - other.line)
}

function tellHowFar(counts: ImportCounts, line: number, dryRun: boolean, stepHasFailed: boolean): string {
  const { created, replaced, skipped, failed } = counts
  if (dryRun && line === 1) return 'In this dry run nothing is stored.'
  const numbers = [
    `${created.toLocaleString('en')} created`,
    `${replaced.toLocaleString('en')} replaced`,
    `${skipped.toLocaleString('en')} skipped`,
    `${failed.toLocaleString('en')} failed`,
  ].join(', ')
  if (dryRun) return `In this dry run nothing is stored; before line ${line}: ${numbers}.`
  if (line === 1 && !stepHasFailed) return 'Nothing is stored.'
  const others = stepHasFailed ? '; of those from there on some may be stored' : ''
  return `The rows before line ${line} are stored: ${numbers}${others}.`
}
