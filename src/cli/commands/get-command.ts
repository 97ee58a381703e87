import type { Command } from 'commander'
import { addServiceOptions, callService, type ServiceFlags } from '../calls/service-call.ts'
import { CommandFailure } from '../output/command-failure.ts'
import { addJsonOption, type JsonFlag, printPlant } from '../output/plant-output.ts'
import { parseId } from './command-values.ts'

/** `plantstore get`: one plant, for people or exact. */
export function addGetCommand(program: Command): void {
  const command = program.command('get').description('show a plant').argument('<id>', 'its id', parseId)
  addServiceOptions(addJsonOption(command))
    .addHelpText('after', '\nExamples:\n  plantstore get 42\n  plantstore get 42 --json')
    .action((id: bigint, flags: ServiceFlags & JsonFlag) =>
      callService(flags, async ({ client, signal }) => {
        const plant = await client.getPlant(id, { signal })
        if (plant === undefined) throw new CommandFailure(`There is no plant ${id}.`)
        await printPlant(plant, flags)
      }),
    )
}
