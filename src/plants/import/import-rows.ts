import type { AppError, ErrorCode, FieldError } from '../../errors.ts'
import type { NewPlant } from '../plant.ts'

/** Consecutive rows of an import. */
export interface ImportRows {
  plants: NewPlant[]
  /** The line on which the row of each plant begins, from 1. */
  lines: number[]
  /** Rows without a valid plant, in order. */
  failures: RowFailure[]
  /** The line after these rows. Every row that begins before it is among these or earlier ones. */
  nextLine: number
  /** The length of their text. */
  characters: number
}

/** A row that was not stored, and why. */
export interface RowFailure {
  /** The line on which the row begins, from 1. */
  line: number
  /** The id of the row; undefined if it has no valid one. */
  id: bigint | undefined
  code: ErrorCode
  message: string
  /** The fields that fail validation; undefined if the row failed for another reason. */
  fields?: readonly FieldError[] | undefined
}

export function createImportRows(nextLine: number, characters: number): ImportRows {
  return { plants: [], lines: [], failures: [], nextLine, characters }
}

/** Adds a failed row with its error. */
export function failRow(rows: ImportRows, line: number, fault: AppError, id?: bigint): void {
  const { code, message, details } = fault
  rows.failures.push({ line, id, code, message, fields: details?.fields })
}
