import type { Command } from 'commander'
import { addServiceOptions, callService, type ServiceFlags } from '../calls/service-call.ts'
import type { CommandContext } from '../command-context.ts'
import { CommandFailure } from '../output/command-failure.ts'
import { addJsonOption, type JsonFlag, printPlant } from '../output/plant-output.ts'
import { parseId } from './command-values.ts'

/** `plantstore get`: one plant. */
export function addGetCommand(program: Command, context: CommandContext): void {
  const command = program.command('get').description('Show a plant').argument('<id>', 'Id', parseId)
  addServiceOptions(addJsonOption(command))
    .addHelpText('after', '\nExamples:\n  plantstore get 42\n  plantstore get 42 --json')
    .action((id: bigint, flags: ServiceFlags & JsonFlag) =>
      callService(context, flags, async ({ client, signal }) => {
        const plant = await client.getPlant(id, { signal })
        if (plant === undefined) throw new CommandFailure(`There is no plant ${id}.`)
        await printPlant(context.stdout, plant, flags)
      }),
    )
}
