import { type Command, InvalidArgumentError } from 'commander'
import type { FileFormat } from '../../client/plant-store-client.ts'
import { AppError } from '../../errors.ts'
import { addServiceOptions, callService, type ServiceFlags } from '../calls/service-call.ts'
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
Rows that are refused are told, and the others are stored; it ends with 1 when there were some. With --errors
they are written as they stand in the input (which is read a second time for that, or kept beside that file when
it comes on standard input), so that they can be mended and imported again. A file that is there is replaced only
when all of them are written, and stays when there are none. A name that ends in .gz is compressed.

Examples:
  plantstore import plants.csv
  plantstore import plants.csv --errors refused.csv
  plantstore import names.csv --columns name,tag --id-start 1000
  plantstore export | plantstore import - --format ndjson --url http://127.0.0.1:8081`

/** `plantstore import`: many plants, from NDJSON or CSV. */
export function addImportCommand(program: Command): void {
  const command = program
    .command('import')
    .description('add the plants of a file: NDJSON or CSV, of any size, maybe compressed with gzip')
    .argument('<file>', 'a name that ends in .ndjson, .jsonl or .csv, maybe with .gz; - is standard input')
    .addOption(choiceOption('--format <format>', 'where the name does not tell', FILE_FORMATS))
    .addOption(
      choiceOption(
        '--on-conflict <how>',
        'what becomes of a row whose id is taken: it is refused (fail), left out, or it replaces (default: fail)',
        ['fail', 'skip', 'replace'],
      ),
    )
    .option('--dry-run', 'only tell what would happen')
    .option(
      '--columns <names>',
      'CSV: the columns id, name, tag, for a file without a header row',
      parseColumns,
    )
    .option('--id-start <id>', 'CSV: number the rows from here on', parseId)
    .option('--encoding <name>', 'CSV: windows-1252, utf-16le, … (default: utf-8)', parseEncoding)
    .option('--errors <file>', 'write the refused rows there')
    .option('--json', 'the report as JSON on one line')
  addServiceOptions(command).addHelpText('after', EXAMPLES).action(importFile)
}

async function importFile(path: string, flags: ImportFlags): Promise<void> {
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
  // Its bytes may look like quotation marks and commas within a character.
  if (errors !== undefined && encoding === 'iso-2022-jp') {
    throw new CommandFailure(
      '--errors does not know iso-2022-jp: convert the file to UTF-8 first.',
      EXIT_USAGE,
    )
  }
  const file = { format, gzip: named.isGzip || undefined, onConflict, dryRun, columns, idStart, encoding }
  await callService(flags, async (service) => {
    const { importFrom } = await import('../files/import-from.ts')
    await importFrom(path, { ...service, file, errorsFile: errors, json })
  })
}

/** Judges the columns by the service's own rule. */
async function checkColumns(columns: string[], idStart: bigint | undefined): Promise<void> {
  const { createCsvRows } = await import('../../plants/import/csv-rows.ts')
  const { flagHint } = await import('../calls/request-failure.ts')
  try {
    createCsvRows({ columns, idStart })
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const hint = flagHint({
      fields: [{ name: idStart === undefined ? 'id' : '', rule: 'required', line: 1 }],
    })
    throw new CommandFailure(`${error.message}${hint}`, EXIT_USAGE)
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
