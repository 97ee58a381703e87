import type { Command } from 'commander'
import type { ExportFileOptions, FileFormat } from '../../client/plant-store-client.ts'
import { addServiceOptions, callService, type Service, type ServiceFlags } from '../calls/service-call.ts'
import { FILE_FORMATS, formatOf, formatUnknown } from '../files/file-format.ts'
import { CommandFailure, EXIT_USAGE } from '../output/command-failure.ts'
import { choiceOption, parseId } from './command-values.ts'

interface ExportFlags extends ServiceFlags {
  format?: FileFormat
  bom?: true
  tag?: string
  search?: string
  after?: bigint
}

/** `plantstore export`: every plant that matches, as the store was at one moment. */
export function addExportCommand(program: Command): void {
  const command = program
    .command('export')
    .description('write all plants, or those that match, as they were at one moment')
    .argument('[file]', 'where to; standard output when left out or -. A name that ends in .gz is compressed')
    .addOption(
      choiceOption(
        '--format <format>',
        'how (default: as the name of the file ends, or ndjson)',
        FILE_FORMATS,
      ),
    )
    .option('--bom', 'begin CSV with a byte order mark, for spreadsheets that want one')
    .option('--tag <tag>', 'only plants with exactly this tag')
    .option('--search <words>', 'only plants whose name has these words, or words that begin so')
    .option('--after <id>', 'only plants with a greater id', parseId)
  addServiceOptions(command)
    .addHelpText(
      'after',
      `
The file takes its name when it is whole: an export that fails leaves what was there before.

Examples:
  plantstore export plants.ndjson.gz
  plantstore export trees.csv --tag tree --bom
  plantstore export --format csv > plants.csv`,
    )
    .action(exportPlants)
}

async function exportPlants(path: string | undefined, flags: ExportFlags): Promise<void> {
  const file = path === '-' ? undefined : path
  const { tag, search, after, bom } = flags
  const named = file === undefined ? { format: 'ndjson' as const, isGzip: false } : formatOf(file)
  const format = flags.format ?? named.format ?? formatUnknown(`The name ${file}`)
  if (bom && format !== 'csv') throw new CommandFailure('--bom is for CSV only.', EXIT_USAGE)
  const options: ExportFileOptions = { format, tag, q: search, after, bom }
  await callService(flags, async (service: Service) => {
    const { exportTo } = await import('../files/export-to.ts')
    await exportTo(file, { ...service, options, isGzip: named.isGzip })
  })
}
