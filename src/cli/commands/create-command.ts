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
    .description('Create a plant; fails if the id is already used')
    .argument('<id>', 'Id, a 64-bit integer', parseId)
    .argument('<name>', 'Name; quote it if it has spaces')
    .option('--tag <tag>', 'Tag')
  addServiceOptions(addJsonOption(command))
    .addHelpText('after', '\nExample:\n  plantstore create 42 "Quercus robur" --tag tree')
    .action((id: bigint, name: string, { tag, ...flags }: CreateFlags) =>
      callService(context, flags, async ({ client, signal }) => {
        const plant = await client.createPlant({ id, name, ...(tag !== undefined && { tag }) }, { signal })
        await printPlant(context.stdout, plant, flags)
      }),
    )
}
