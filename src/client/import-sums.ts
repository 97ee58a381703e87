import type { ImportCounts, ImportReport } from './plant-types.ts'
import { type ImportProgress, RequestError } from './request-error.ts'

export const NO_PROGRESS: ImportProgress = { line: 1, created: 0, replaced: 0, skipped: 0, failed: 0 }

/** An invalid field. */
const INVALID_FIELD = 40003

export function addCounts(one: ImportCounts, other: ImportCounts): ImportCounts {
  return {
    created: one.created + other.created,
    replaced: one.replaced + other.replaced,
    skipped: one.skipped + other.skipped,
    failed: one.failed + other.failed,
  }
}

/** The report of rows after the largest id: the service accepts no larger `idStart`. */
export function rowsWithoutId(lines: readonly number[]): ImportReport {
  const message = 'The row has no id: an earlier row has the largest id.'
  const fields = [{ name: 'id', rule: 'max' as const }]
  const errors = lines.map((line) => ({ line, error: INVALID_FIELD, message, fields }))
  return { ...addCounts(NO_PROGRESS, NO_PROGRESS), failed: errors.length, errors }
}

/** The error of a slice as one of the whole file: its lines, and the progress of the import. */
export function errorInFile(error: unknown, linesBefore: number, before: ImportProgress): unknown {
  if (!(error instanceof RequestError)) return error
  const { line, counts, outcome, fields, ...others } = error.details
  const hasCounts = line !== undefined && counts !== undefined
  // Without a row settled, the line may be before the slice: after the header row that is sent again.
  const settledLine = hasCounts ? Math.max(before.line, line + linesBefore) : before.line
  const progress = { ...(hasCounts ? addCounts(before, counts) : before), line: settledLine }
  if (progress.line === 1) return error
  const { line: _, ...sum } = progress
  const details =
    error.kind === 'service'
      ? {
          ...others,
          ...(fields && {
            fields: fields.map((field) =>
              field.line === undefined ? field : { ...field, line: field.line + linesBefore },
            ),
          }),
          line: settledLine,
          counts: sum,
          outcome:
            outcome === 'unknown' || (error.isOutcomeUnknown && !hasCounts)
              ? ('unknown' as const)
              : ('stored-before-line' as const),
        }
      : error.details
  return Object.assign(error, { progress, details })
}
