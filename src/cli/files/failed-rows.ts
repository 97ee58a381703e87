import { fstatSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { ImportFileOptions } from '../../client/plant-store-client.ts'
import { type Delimiter, isWide, numberedColumns } from '../../plants/import/table-dialect.ts'
import type { CommandContext } from '../command-context.ts'
import { CommandFailure, EXIT_USAGE } from '../output/command-failure.ts'
import { type DelimiterName, formatOf } from './file-format.ts'
import type { ImportInput } from './import-input.ts'
import { type PickOptions, pickRows } from './picked-rows.ts'
import { checkReplaceable, openReplacement } from './replacement-file.ts'

/**
 * Throws a CommandFailure if the failed rows would overwrite the imported file, or cannot be written.
 */
export async function checkErrorsFile(
  { stdin }: Pick<CommandContext, 'stdin'>,
  errorsFile: string,
  path: string,
): Promise<void> {
  if (errorsFile === '-') {
    throw new CommandFailure('--errors requires the name of a file, not -.', EXIT_USAGE)
  }
  const one = await stat(errorsFile).catch(() => undefined)
  const other = path === '-' ? statusOf(stdin) : await stat(path).catch(() => undefined)
  if (one?.isFile() && one.ino === other?.ino && one.dev === other.dev) {
    throw new CommandFailure('--errors names the imported file: use another one.', EXIT_USAGE)
  }
  await checkReplaceable(errorsFile)
}

/** Undefined for a stream in memory. */
function statusOf({ fd }: CommandContext['stdin']) {
  return fd === undefined ? undefined : fstatSync(fd)
}

/**
 * Writes the header row and the failed rows, byte for byte as in the input; compressed if the name ends in `.gz`. An
 * existing file is replaced once all rows are written, and left unchanged if that fails.
 */
export async function writeFailedRows(
  errorsFile: string,
  input: ImportInput,
  failedIds: ReadonlyMap<number, bigint | undefined>,
  { format, encoding, columns, idStart }: ImportFileOptions,
  delimiter: Delimiter,
): Promise<void> {
  const options: PickOptions = {
    format,
    delimiter,
    wideEncoding: isWide(encoding) ? encoding : undefined,
    hasHeader: format === 'csv' && columns === undefined,
    isNumbered: idStart !== undefined,
  }
  const file = await openReplacement(errorsFile)
  const write = async (chunks: AsyncIterable<Uint8Array>) => {
    for await (const chunk of chunks) await file.write(chunk)
  }
  try {
    const rows = pickRows(input.readAgain(), failedIds, options)
    await (formatOf(errorsFile).isGzip ? pipeline(rows, createGzip(), write) : write(rows))
    await file.commit()
  } finally {
    await file.discard()
  }
}

/** Names the command that imports the corrected rows. */
export function correctionHint(
  errorsFile: string,
  { format, encoding, columns, idStart, onConflict }: ImportFileOptions,
  delimiter: DelimiterName | undefined,
): string {
  const words = ['plantstore', 'import', quoted(errorsFile)]
  if (formatOf(errorsFile).format !== format) words.push('--format', format)
  // The ids of numbered rows are written as a column.
  const names = idStart === undefined ? columns : columns && numberedColumns(columns)
  if (names !== undefined) words.push('--columns', quoted(names.join()))
  if (delimiter !== undefined) words.push('--delimiter', delimiter)
  if (encoding !== undefined && encoding !== 'utf-8') words.push('--encoding', encoding)
  if (onConflict !== undefined) words.push('--on-conflict', onConflict)
  return `The failed rows are in ${errorsFile}. Correct them, then run: ${words.join(' ')}`
}

/** Quotes a word for a shell. */
function quoted(word: string): string {
  return /^[\w./,@:+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
