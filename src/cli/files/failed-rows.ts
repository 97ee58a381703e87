import { fstatSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { ImportFileOptions } from '../../client/plant-store-client.ts'
import { isWide, numberedColumns } from '../../plants/import/table-dialect.ts'
import type { CommandContext } from '../command-context.ts'
import { CommandFailure, EXIT_USAGE } from '../output/command-failure.ts'
import { formatOf } from './file-format.ts'
import type { ImportInput } from './import-input.ts'
import { type PickOptions, pickRows } from './picked-rows.ts'
import { checkReplaceable, openReplacement } from './replacement-file.ts'

/**
 * Throws a CommandFailure where the refused rows would be written over the file that they come from, or cannot be
 * written.
 */
export async function checkErrorsFile(
  { stdin }: Pick<CommandContext, 'stdin'>,
  errorsFile: string,
  path: string,
): Promise<void> {
  if (errorsFile === '-') {
    throw new CommandFailure('--errors takes the name of a file: - is none.', EXIT_USAGE)
  }
  const one = await stat(errorsFile).catch(() => undefined)
  const other = path === '-' ? statusOf(stdin) : await stat(path).catch(() => undefined)
  if (one?.isFile() && one.ino === other?.ino && one.dev === other.dev) {
    throw new CommandFailure('--errors names the file that is imported: name another one.', EXIT_USAGE)
  }
  await checkReplaceable(errorsFile)
}

/** Undefined for a stream in memory. */
function statusOf({ fd }: CommandContext['stdin']) {
  return fd === undefined ? undefined : fstatSync(fd)
}

/**
 * Writes the rows that were refused, as they stand in the input, the header row first; compressed where the name
 * of the file ends in `.gz`. What was there is replaced when all of them are written, and stays otherwise.
 */
export async function writeFailedRows(
  errorsFile: string,
  input: ImportInput,
  refused: ReadonlyMap<number, bigint | undefined>,
  { format, encoding, columns, idStart }: ImportFileOptions,
): Promise<void> {
  const options: PickOptions = {
    format,
    wideEncoding: isWide(encoding) ? encoding : undefined,
    hasHeader: format === 'csv' && columns === undefined,
    isNumbered: idStart !== undefined,
  }
  const file = await openReplacement(errorsFile)
  const write = async (pieces: AsyncIterable<Uint8Array>) => {
    for await (const piece of pieces) await file.write(piece)
  }
  try {
    const rows = pickRows(input.readAgain(), refused, options)
    await (formatOf(errorsFile).isGzip ? pipeline(rows, createGzip(), write) : write(rows))
    await file.commit()
  } finally {
    await file.discard()
  }
}

/** The command that imports the refused rows once they are mended. */
export function mendingHint(
  errorsFile: string,
  { format, encoding, columns, idStart, onConflict }: ImportFileOptions,
): string {
  const words = ['plantstore', 'import', quoted(errorsFile)]
  if (formatOf(errorsFile).format !== format) words.push('--format', format)
  // The rows have got their numbers as a column of their own.
  const names = idStart === undefined ? columns : columns && numberedColumns(columns)
  if (names !== undefined) words.push('--columns', quoted(names.join()))
  if (encoding !== undefined && encoding !== 'utf-8') words.push('--encoding', encoding)
  if (onConflict !== undefined) words.push('--on-conflict', onConflict)
  return `The refused rows are in ${errorsFile}. Mend them, then: ${words.join(' ')}`
}

/** A word as a shell takes it. */
function quoted(word: string): string {
  return /^[\w./,@:+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
