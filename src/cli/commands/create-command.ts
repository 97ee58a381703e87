import type { Command } from 'commander'
import { addServiceOptions, callService, type ServiceFlags } from '../calls/service-call.ts'
import { addJsonOption, type JsonFlag, printPlant } from '../output/plant-output.ts'
import { parseId } from './command-values.ts'

interface AddFlags extends ServiceFlags, JsonFlag {
  tag?: string
}

/** `plantstore add`: one plant. */
export function addCreateCommand(program: Command): void {
  const command = program
    .command('add')
    .description('add a plant; a taken id is refused, and the plant that has it stays as it is')
    .argument('<id>', 'its id, a whole number of 64 bits', parseId)
    .argument('<name>', 'its name, in one argument: quote it')
    .option('--tag <tag>', 'its tag')
  addServiceOptions(addJsonOption(command))
    .addHelpText('after', '\nExample:\n  plantstore add 42 "Quercus robur" --tag tree')
    .action((id: bigint, name: string, { tag, ...flags }: AddFlags) =>
      callService(flags, async ({ client, signal }) => {
        const plant = await client.createPlant({ id, name, ...(tag !== undefined && { tag }) }, { signal })
        await printPlant(plant, flags)
      }),
    )
}
