import { lstatSync } from 'node:fs'
import { SetupError } from '../../../errors.ts'
import { followLinks } from '../../follow-links.ts'

/** The suffixes of files that SQLite may create beside a database. */
export const SIDE_FILES = ['-wal', '-shm', '-journal'] as const

/** The side files of the database that have a name now, links to nothing included. */
export function sideFilesOf(path: string): string[] {
  return SIDE_FILES.map((end) => path + end).filter(
    (name) => lstatSync(name, { throwIfNoEntry: false }) !== undefined,
  )
}

/** Throws a SetupError if a side file of the database is a link: SQLite would create the file that it leads to. */
export function rejectLinkedSideFiles(path: string): void {
  const file = followLinks(path)
  // Another process may delete its journal at any moment.
  const link = SIDE_FILES.map((end) => file + end).find((name) =>
    lstatSync(name, { throwIfNoEntry: false })?.isSymbolicLink(),
  )
  if (link !== undefined) throw new SetupError(`${link} is a link: remove it.`)
}
