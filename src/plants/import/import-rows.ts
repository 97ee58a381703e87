import type { AppError, ErrorCode } from '../../errors.ts'
import type { NewPlant } from '../plant.ts'

/** Rows of an import that were read together. */
export interface ImportRows {
  plants: NewPlant[]
  /** The line on which the row of each plant begins, from 1. */
  lines: number[]
  /** Rows that hold no plant, in their order. */
  refusals: RowFailure[]
  /** The line behind them: every row that begins before it is here, or came earlier. */
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
}

export function createImportRows(nextLine: number, characters: number): ImportRows {
  return { plants: [], lines: [], refusals: [], nextLine, characters }
}

/** Leaves a row out, for the reason that `fault` is. */
export function failRow(rows: ImportRows, line: number, fault: AppError, id?: bigint): void {
  rows.refusals.push({ line, id, code: fault.code, message: fault.message })
}
