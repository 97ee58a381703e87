import { type Command, Option } from 'commander'
import { addServiceOptions, callService, type ServiceFlags } from '../calls/service-call.ts'
import type { CommandContext } from '../command-context.ts'
import { CommandFailure } from '../output/command-failure.ts'
import { addJsonOption, type JsonFlag, printPlant } from '../output/plant-output.ts'
import { print } from '../output/standard-output.ts'
import { parseId } from './command-values.ts'

interface GetFlags extends ServiceFlags, JsonFlag {
  etag?: true
}

/** `plantstore get`: one plant. */
export function addGetCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('get')
    .description('Show a plant')
    .argument('<id>', 'Id', parseId)
    .addOption(new Option('--etag', 'Print only the ETag, for --if-match').conflicts('json'))
  addServiceOptions(addJsonOption(command))
    .addHelpText(
      'after',
      `
Prints a line per member on a terminal. In a pipe prints one line: id, name,
tag, createdAt and updatedAt, separated by tabs. --json has the ETag, too.

Examples:
  plantstore get 42
  plantstore get 42 --json
  plantstore update 42 --tag oak --if-match "$(plantstore get 42 --etag)"`,
    )
    .action((id: bigint, { etag, ...flags }: GetFlags) =>
      callService(context, flags, async ({ client, signal }) => {
        const plant = await client.getPlant(id, { signal })
        if (plant === undefined) throw new CommandFailure(`There is no plant ${id}.`)
        if (etag) await print(context.stdout, `${plant.etag}\n`)
        else await printPlant(context.stdout, plant, flags)
      }),
    )
}
