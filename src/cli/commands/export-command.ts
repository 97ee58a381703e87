import type { Command } from 'commander'
import type { ExportFileOptions, FileFormat } from '../../client/plant-store-client.ts'
import { addServiceOptions, callService, type Service, type ServiceFlags } from '../calls/service-call.ts'
import type { CommandContext } from '../command-context.ts'
import { FILE_FORMATS, formatOf, formatUnknown } from '../files/file-format.ts'
import { CommandFailure, EXIT_USAGE } from '../output/command-failure.ts'
import { messageStream, type QuietFlag, quietOption } from '../output/quiet.ts'
import { choiceOption, parseFile, parseId } from './command-values.ts'

interface ExportFlags extends ServiceFlags, QuietFlag {
  format?: FileFormat
  bom?: true
  tag?: string
  search?: string
  after?: bigint
}

/** `plantstore export`: every matching plant, from one snapshot of the store. */
export function addExportCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('export')
    .description('Write plants to an NDJSON or CSV file')
    .argument('[file]', 'File, compressed if its name ends in .gz (default: standard output)', parseFile)
    .addOption(
      choiceOption('--format <format>', 'Format (default: from the file name, or ndjson)', FILE_FORMATS),
    )
    .option('--bom', 'Begin CSV with a byte order mark, for spreadsheets')
    .option('--tag <tag>', 'Only plants with exactly this tag')
    .option('--search <words>', 'Only plants whose name has words that begin with these')
    .option('--after <id>', 'Only plants with a greater id', parseId)
  addServiceOptions(command.addOption(quietOption()))
    .addHelpText(
      'after',
      `
Exports all plants, or those that match every flag, as one snapshot. The file appears when it is complete: a failed
export leaves an existing file unchanged.

Examples:
  plantstore export plants.ndjson.gz
  plantstore export trees.csv --tag tree --bom
  plantstore export --format csv > plants.csv`,
    )
    .action((path: string | undefined, flags: ExportFlags) => exportPlants(context, path, flags))
}

async function exportPlants(
  context: CommandContext,
  path: string | undefined,
  flags: ExportFlags,
): Promise<void> {
  const file = path === '-' ? undefined : path
  const { tag, search, after, bom } = flags
  const named = file === undefined ? { format: 'ndjson' as const, isGzip: false } : formatOf(file)
  const format = flags.format ?? named.format ?? formatUnknown(file ?? '-')
  if (bom && format !== 'csv') throw new CommandFailure('--bom is for CSV only.', EXIT_USAGE)
  const request: ExportFileOptions = { format, tag, q: search, after, bom }
  await callService(context, flags, async (service: Service) => {
    const { exportTo } = await import('../files/export-to.ts')
    await exportTo({ stdout: context.stdout, messages: messageStream(context, flags) }, file, {
      ...service,
      request,
      isGzip: named.isGzip,
    })
  })
}
