import { type Command, InvalidArgumentError } from 'commander'
import type { FileFormat } from '../../client/plant-store-client.ts'
import { AppError } from '../../errors.ts'
import { addServiceOptions, callService, type ServiceFlags } from '../calls/service-call.ts'
import type { CommandContext } from '../command-context.ts'
import {
  DELIMITER_NAMES,
  type DelimiterName,
  FILE_FORMATS,
  formatOf,
  formatUnknown,
} from '../files/file-format.ts'
import { CommandFailure, EXIT_USAGE } from '../output/command-failure.ts'
import type { JsonFlag } from '../output/plant-output.ts'
import { type QuietFlag, quietOption } from '../output/quiet.ts'
import { choiceOption, parseFile, parseId } from './command-values.ts'

interface ImportFlags extends ServiceFlags, JsonFlag, QuietFlag {
  format?: FileFormat
  onConflict?: 'fail' | 'skip' | 'replace'
  dryRun?: true
  columns?: string[]
  idStart?: bigint
  delimiter?: DelimiterName
  encoding?: string
  errors?: string
}

const EXAMPLES = `
Failed rows are printed, the other rows are stored, and the exit code is 1. Correct the rows that --errors wrote, then
import them. The file of --errors is replaced only if rows failed, and compressed if its name ends in .gz.

Examples:
  plantstore import plants.csv
  plantstore import plants.csv --errors failed.csv
  plantstore import names.csv --columns name,tag --id-start 1000
  plantstore export | plantstore import - --format ndjson --url http://other`

/** `plantstore import`: the plants of a file. */
export function addImportCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('import')
    .description('Create plants from an NDJSON or CSV file of any size')
    .argument(
      '<file>',
      'File (.ndjson, .jsonl or .csv, with .gz if compressed); -: standard input',
      parseFile,
    )
    .addOption(choiceOption('--format <format>', 'Format (default: from the file name)', FILE_FORMATS))
    .addOption(
      choiceOption('--on-conflict <how>', 'What to do with rows whose id is already used (default: fail)', [
        'fail',
        'skip',
        'replace',
      ]),
    )
    .option('--dry-run', 'Report the result without storing anything')
    .option('--columns <names>', 'CSV without a header row: its columns, such as id,name,tag', parseColumns)
    .option('--id-start <id>', 'CSV without ids: number the rows from this id', parseId)
    .addOption(
      choiceOption(
        '--delimiter <which>',
        'CSV: what separates the cells (default: from the header row)',
        DELIMITER_NAMES,
      ),
    )
    .option('--encoding <name>', 'CSV: encoding, such as windows-1252 (default: utf-8)', parseEncoding)
    .option('--errors <file>', 'Write the failed rows to this file', parseFile)
    .option('--json', 'Print the report as JSON')
  addServiceOptions(command.addOption(quietOption()))
    .addHelpText('after', EXAMPLES)
    .action((path: string, flags: ImportFlags) => importFile(context, path, flags))
}

async function importFile(context: CommandContext, path: string, flags: ImportFlags): Promise<void> {
  const { onConflict, dryRun, columns, idStart, delimiter, encoding, errors, json, quiet } = flags
  const named = formatOf(path)
  const format = flags.format ?? named.format ?? formatUnknown(path === '-' ? 'standard input' : path)
  if (format !== 'csv') {
    const misplaced = Object.entries({
      '--columns': columns,
      '--id-start': idStart,
      '--delimiter': delimiter,
      '--encoding': encoding,
    })
    for (const [flag, value] of misplaced) {
      if (value !== undefined) throw new CommandFailure(`${flag} is for CSV only.`, EXIT_USAGE)
    }
  }
  if (columns !== undefined) await checkColumns(columns, idStart)
  // In this encoding a byte of a character may look like a quotation mark or comma.
  if (errors !== undefined && encoding === 'iso-2022-jp') {
    throw new CommandFailure(
      '--errors does not support iso-2022-jp: convert the file to UTF-8 first.',
      EXIT_USAGE,
    )
  }
  const file = { format, gzip: named.isGzip || undefined, onConflict, dryRun, columns, idStart, encoding }
  await callService(context, flags, async (service) => {
    const { importFrom } = await import('../files/import-from.ts')
    await importFrom(context, path, { ...service, file, delimiter, errorsFile: errors, json, quiet })
  })
}

/** Validates the columns by the service's own rule. */
async function checkColumns(columns: string[], idStart: bigint | undefined): Promise<void> {
  const { createCsvRows } = await import('../../plants/import/csv-rows.ts')
  const { flagHint } = await import('../calls/request-failure.ts')
  try {
    createCsvRows({ columns, idStart })
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw new CommandFailure(`${error.message}${flagHint(error.details ?? {})}`, EXIT_USAGE)
  }
}

function parseColumns(text: string): string[] {
  return text.split(',')
}

function parseEncoding(text: string): string {
  try {
    return new TextDecoder(text).encoding
  } catch {
    throw new InvalidArgumentError('The encoding is unknown. Examples: utf-8, windows-1252, utf-16le.')
  }
}
