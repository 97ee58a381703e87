import { type Command, InvalidArgumentError } from 'commander'
import type { FileFormat } from '../../client/plant-store-client.ts'
import { AppError } from '../../errors.ts'
import { addServiceOptions, callService, type ServiceFlags } from '../calls/service-call.ts'
import type { CommandContext } from '../command-context.ts'
import { FILE_FORMATS, formatOf, formatUnknown } from '../files/file-format.ts'
import { CommandFailure, EXIT_USAGE } from '../output/command-failure.ts'
import type { JsonFlag } from '../output/plant-output.ts'
import { choiceOption, parseId } from './command-values.ts'

interface ImportFlags extends ServiceFlags, JsonFlag {
  format?: FileFormat
  onConflict?: 'fail' | 'skip' | 'replace'
  dryRun?: true
  columns?: string[]
  idStart?: bigint
  encoding?: string
  errors?: string
}

const EXAMPLES = `
Failed rows are printed, the others are stored, and the exit code is 1. --errors writes the failed rows unchanged, so
that you can correct and import them. An existing file is replaced when all of them are written, and left unchanged
without failed rows. A name that ends in .gz is compressed.

Examples:
  plantstore import plants.csv
  plantstore import plants.csv --errors failed.csv
  plantstore import names.csv --columns name,tag --id-start 1000
  plantstore export | plantstore import - --format ndjson --url http://127.0.0.1:8081`

/** `plantstore import`: the plants of a file. */
export function addImportCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('import')
    .description('create the plants of a file: NDJSON or CSV of any size, also compressed with gzip')
    .argument(
      '<file>',
      'a name that ends in .ndjson, .jsonl or .csv, and .gz if compressed; - is standard input',
    )
    .addOption(
      choiceOption('--format <format>', 'the format (default: from the name of the file)', FILE_FORMATS),
    )
    .addOption(
      choiceOption(
        '--on-conflict <how>',
        'a row whose id is already used fails, is skipped or replaces the plant (default: fail)',
        ['fail', 'skip', 'replace'],
      ),
    )
    .option('--dry-run', 'only report the result, store nothing')
    .option(
      '--columns <names>',
      'CSV: the columns id, name, tag, for a file without a header row',
      parseColumns,
    )
    .option('--id-start <id>', 'CSV: number the rows from this id', parseId)
    .option('--encoding <name>', 'CSV: windows-1252, utf-16le, … (default: utf-8)', parseEncoding)
    .option('--errors <file>', 'write the failed rows to this file')
    .option('--json', 'the report as JSON on one line')
  addServiceOptions(command)
    .addHelpText('after', EXAMPLES)
    .action((path: string, flags: ImportFlags) => importFile(context, path, flags))
}

async function importFile(context: CommandContext, path: string, flags: ImportFlags): Promise<void> {
  const { onConflict, dryRun, columns, idStart, encoding, errors, json } = flags
  const named = formatOf(path)
  const format =
    flags.format ?? named.format ?? formatUnknown(path === '-' ? 'Standard input' : `The name ${path}`)
  if (format !== 'csv') {
    const misplaced = Object.entries({ '--columns': columns, '--id-start': idStart, '--encoding': encoding })
    for (const [flag, value] of misplaced) {
      if (value !== undefined) throw new CommandFailure(`${flag} is for CSV only.`, EXIT_USAGE)
    }
  }
  if (columns !== undefined) await checkColumns(columns, idStart)
  // A byte of a character may look like a quotation mark or comma.
  if (errors !== undefined && encoding === 'iso-2022-jp') {
    throw new CommandFailure(
      '--errors does not support iso-2022-jp: convert the file to UTF-8 first.',
      EXIT_USAGE,
    )
  }
  const file = { format, gzip: named.isGzip || undefined, onConflict, dryRun, columns, idStart, encoding }
  await callService(context, flags, async (service) => {
    const { importFrom } = await import('../files/import-from.ts')
    await importFrom(context, path, { ...service, file, errorsFile: errors, json })
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
    throw new InvalidArgumentError('There is no such encoding: utf-8, windows-1252 and utf-16le are some.')
  }
}
