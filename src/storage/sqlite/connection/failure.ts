import { AppError } from '../../../errors.ts'
import { systemReason } from '../../system-reason.ts'

/** Primary result codes of SQLite (sqlite.org/rescode.html): the low byte of an extended one. */
export const SQLITE_BUSY = 5
export const SQLITE_READONLY = 8
export const SQLITE_CORRUPT = 11
const SQLITE_FULL = 13
export const SQLITE_CANTOPEN = 14
export const SQLITE_NOTADB = 26
/** An extended code: the disk has no room for the shared-memory file, the index of the write-ahead log. */
const SQLITE_IOERR_SHMSIZE = 4874

/** The failure of a statement as the service sends it. The cause is for the log. */
export function storageError(cause: unknown): AppError {
  const details = { outcome: 'none' } as const
  if (isDiskFull(cause)) return new AppError(50701, undefined, { cause, details })
  return new AppError(50302, 'The database failed, and nothing was stored. Retry in a moment.', {
    cause,
    details,
  })
}

/** The failure of a write, or of an export, while the files of the open database are moved, removed or replaced. */
export function filesMovedError(outcome: 'none' | 'unknown' = 'none'): AppError {
  const stored = outcome === 'none' ? 'Nothing was stored.' : 'The write may or may not have been stored.'
  const message = `The files of the database were moved or removed. ${stored} The operator must put them back.`
  return new AppError(50302, message, { details: { outcome } })
}

/** The primary result code of a failure of SQLite; undefined for another failure. */
export function resultCodeOf(error: unknown): number | undefined {
  const code = (error as { errcode?: number } | undefined)?.errcode
  return code === undefined ? undefined : code & 0xff
}

export function isDiskFull(error: unknown): boolean {
  return (
    resultCodeOf(error) === SQLITE_FULL ||
    (error as { errcode?: number } | undefined)?.errcode === SQLITE_IOERR_SHMSIZE
  )
}

/** Why a database file cannot be used, in plain words if the cause is known. */
export function fileReason(error: unknown): string {
  if (isDiskFull(error)) return 'the disk is full'
  if (resultCodeOf(error) === SQLITE_READONLY) return 'it is read-only'
  return systemReason(error)
}
