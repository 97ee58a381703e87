import { type Command, Option } from 'commander'
import type { ListPlantsOptions } from '../../client/plant-store-client.ts'
import { addServiceOptions, callService, type ServiceFlags } from '../calls/service-call.ts'
import type { CommandContext } from '../command-context.ts'
import { addRowsOptions, createPlantPrinter, type RowsFlags } from '../output/plant-output.ts'
import { parseCount, parseId } from './command-values.ts'

export interface ListFlags extends ServiceFlags, RowsFlags {
  limit?: number
  all?: true
  after?: bigint
  tag?: string
}

const PLANTS_DEFAULT = 100
const PLANTS_MAX = Number.MAX_SAFE_INTEGER
/** The largest page of the service. */
const PAGE_PLANTS_MAX = 1_000

/** `plantstore list`: plants in the order of their ids. */
export function addListCommand(program: Command, context: CommandContext): void {
  addListOptions(program.command('list').description('List plants in the order of their ids'))
    .addHelpText(
      'after',
      `
Prints a table on a terminal. In a pipe prints a line per plant:
id, name, tag, createdAt and updatedAt, separated by tabs.

Examples:
  plantstore list --tag tree
  plantstore list --all --json
  plantstore list --limit 10 --after 42`,
    )
    .action((flags: ListFlags) => list(context, flags))
}

/** The options of a command that lists plants. */
export function addListOptions(command: Command): Command {
  command
    .option('--tag <tag>', 'Only plants with exactly this tag')
    .option(
      '--limit <number>',
      `Maximum number of plants (default: ${PLANTS_DEFAULT})`,
      parseCount(PLANTS_MAX),
    )
    .addOption(new Option('--all', 'All plants').conflicts('limit'))
    .option('--after <id>', 'Only plants with a greater id', parseId)
  return addServiceOptions(addRowsOptions(command))
}

/** Prints the plants that match the flags, and the words if given; reports on standard error if there are more. */
export function list(context: CommandContext, flags: ListFlags, words?: string): Promise<void> {
  const { stdout, stderr } = context
  const { tag, after, all, limit = all ? Number.POSITIVE_INFINITY : PLANTS_DEFAULT } = flags
  // One more than is printed shows whether there are more.
  const query: ListPlantsOptions = { tag, after, q: words, pageSize: Math.min(limit + 1, PAGE_PLANTS_MAX) }
  return callService(context, flags, async ({ client, signal }) => {
    const printPlants = createPlantPrinter(stdout, flags)
    let left = limit
    let last = after
    for await (const page of client.listPlants({ ...query, signal }).pages()) {
      const plants = page.slice(0, left)
      if (plants.length > 0) await printPlants(plants)
      left -= plants.length
      last = plants.at(-1)?.id ?? last
      if (plants.length < page.length) {
        stderr.write(`There are more than ${limit}. Continue with --after ${last}, or use --all.\n`)
        return
      }
    }
    if (left < limit) return
    if (flags.csv) await printPlants([])
    else if (stdout.isTTY) stderr.write('No plants match.\n')
  })
}
