import type { Command } from 'commander'
import { addServiceOptions, callService, type ServiceFlags } from '../calls/service-call.ts'
import type { CommandContext } from '../command-context.ts'
import { addJsonOption, type JsonFlag, printPlant } from '../output/plant-output.ts'
import { parseId } from './command-values.ts'

interface CreateFlags extends ServiceFlags, JsonFlag {
  tag?: string
}

/** `plantstore create`: one plant. */
export function addCreateCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('create')
    .description('create a plant; an id that is already used is rejected')
    .argument('<id>', 'its id, a 64-bit integer', parseId)
    .argument('<name>', 'its name; quote it if it has spaces')
    .option('--tag <tag>', 'its tag')
  addServiceOptions(addJsonOption(command))
    .addHelpText('after', '\nExample:\n  plantstore create 42 "Quercus robur" --tag tree')
    .action((id: bigint, name: string, { tag, ...flags }: CreateFlags) =>
      callService(context, flags, async ({ client, signal }) => {
        const plant = await client.createPlant({ id, name, ...(tag !== undefined && { tag }) }, { signal })
        await printPlant(context.stdout, plant, flags)
      }),
    )
}
