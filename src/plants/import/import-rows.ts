import type { AppError, ErrorCode, FieldError } from '../../errors.ts'
import type { NewPlant } from '../plant.ts'

/** Rows of an import that were read together. */
export interface ImportRows {
  plants: NewPlant[]
  /** The line on which the row of each plant begins, from 1. */
  lines: number[]
  /** Rows that hold no plant, in their order. */
  failures: RowFailure[]
  /** The line after them: every row that begins before it is here, or came earlier. */
  nextLine: number
  /** How much text they were read from. */
  characters: number
}

/** A row that was not stored, and why. */
export interface RowFailure {
  /** The line on which the row begins, from 1. */
  line: number
  /** Its id, where it has a legible one. */
  id: bigint | undefined
  code: ErrorCode
  message: string
  /** The fields that fail validation, where it is for them. */
  fields?: readonly FieldError[] | undefined
}

export function createImportRows(nextLine: number, characters: number): ImportRows {
  return { plants: [], lines: [], failures: [], nextLine, characters }
}

/** Adds a failed row, with the error that made it fail. */
export function failRow(rows: ImportRows, line: number, fault: AppError, id?: bigint): void {
  const { code, message, details } = fault
  rows.failures.push({ line, id, code, message, fields: details?.fields })
}
