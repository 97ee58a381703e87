import { lstat, rm, stat } from 'node:fs/promises'
import type { ImportFileOptions } from '../client/plant-store-client.ts'
import { CommandFailure, EXIT_USAGE } from './command-failure.ts'
import { formatOf } from './file-format.ts'
import type { ImportInput } from './import-input.ts'
import { type PickOptions, pickRows } from './picked-rows.ts'
import { openReplacement } from './replacement-file.ts'

/** Throws a CommandFailure where the refused rows would be written over the file that they come from. */
export async function checkErrorsFile(errorsFile: string, path: string): Promise<void> {
  const [one, other] = await Promise.all([errorsFile, path].map((name) => stat(name).catch(() => undefined)))
  if (one !== undefined && one.ino === other?.ino && one.dev === other.dev) {
    throw new CommandFailure('--errors names the file that is imported: name another one.', EXIT_USAGE)
  }
}

/**
 * Writes the rows that were refused, as they stand in the input, the header row first. The file is there when there
 * were some, and not when there were none: one from an earlier import goes.
 */
export async function writeRefusedRows(
  errorsFile: string,
  input: ImportInput,
  refused: ReadonlyMap<number, bigint | undefined>,
  { format, encoding, columns, idStart }: ImportFileOptions,
): Promise<void> {
  if (refused.size === 0) return removeFile(errorsFile)
  const options: PickOptions = {
    format,
    wideEncoding: encoding === 'utf-16le' || encoding === 'utf-16be' ? encoding : undefined,
    hasHeader: format === 'csv' && columns === undefined,
    isNumbered: idStart !== undefined,
  }
  const file = await openReplacement(errorsFile)
  try {
    for await (const piece of pickRows(input.readAgain(), refused, options)) await file.write(piece)
    await file.commit()
  } finally {
    await file.discard()
  }
}

/** Nothing but a file is removed: no device, no link. */
async function removeFile(path: string): Promise<void> {
  const status = await lstat(path).catch(() => undefined)
  if (status?.isFile()) await rm(path, { force: true })
}

/** The command that imports the refused rows once they are mended. */
export function mendingHint(
  errorsFile: string,
  { format, encoding, columns, idStart, onConflict }: ImportFileOptions,
): string {
  const words = ['plantstore', 'import', quoted(errorsFile)]
  if (formatOf(errorsFile).format !== format) words.push('--format', format)
  // The rows have got their numbers as a column of their own.
  const names = idStart === undefined ? columns : columns && ['id', ...columns.map(withoutIdName)]
  if (names !== undefined) words.push('--columns', quoted(names.join()))
  if (encoding !== undefined && encoding !== 'utf-8') words.push('--encoding', encoding)
  if (onConflict !== undefined) words.push('--on-conflict', onConflict)
  return `The refused rows are in ${errorsFile}. Mend them, then: ${words.join(' ')}`
}

function withoutIdName(column: string): string {
  return column.trim().toLowerCase() === 'id' ? 'former_id' : column
}

/** A word as a shell takes it. */
function quoted(word: string): string {
  return /^[\w./,@:+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
