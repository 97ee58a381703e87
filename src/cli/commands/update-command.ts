import type { Command } from 'commander'
import type { PlantUpdate } from '../../client/plant-store-client.ts'
import { addServiceOptions, callService, type ServiceFlags } from '../calls/service-call.ts'
import type { CommandContext } from '../command-context.ts'
import { CommandFailure, EXIT_USAGE } from '../output/command-failure.ts'
import { addJsonOption, type JsonFlag, printPlant } from '../output/plant-output.ts'
import { parseETag, parseId } from './command-values.ts'

interface UpdateFlags extends ServiceFlags, JsonFlag {
  name?: string
  /** `false` for --no-tag. */
  tag?: string | false
  ifMatch?: string
}

/** `plantstore update`: the name and the tag of a plant. */
export function addUpdateCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('update')
    .description('Update the name or the tag of a plant')
    .argument('<id>', 'Id', parseId)
    .option('--name <name>', 'New name')
    .option('--tag <tag>', 'New tag')
    .option('--no-tag', 'Remove the tag')
    .option('--if-match <etag>', 'Update only if the plant still has this ETag', parseETag)
  // Commander would silently use the last of the two.
  const tagFlags = new Set<string>()
  for (const flag of ['tag', 'no-tag']) command.on(`option:${flag}`, () => tagFlags.add(flag))
  addServiceOptions(addJsonOption(command))
    .addHelpText(
      'after',
      '\nExamples:\n  plantstore update 42 --name "Quercus petraea"\n  plantstore update 42 --no-tag',
    )
    .action((id: bigint, { name, tag, ifMatch, ...flags }: UpdateFlags) => {
      if (tagFlags.size > 1) {
        throw new CommandFailure('--tag and --no-tag cannot be combined.', EXIT_USAGE)
      }
      const update: PlantUpdate = {}
      if (name !== undefined) update.name = name
      if (tag !== undefined) update.tag = tag === false ? null : tag
      if (Object.keys(update).length === 0) {
        throw new CommandFailure('Nothing to update: give --name, --tag or --no-tag.', EXIT_USAGE)
      }
      return callService(context, flags, async ({ client, signal }) => {
        await printPlant(context.stdout, await client.updatePlant(id, update, { ifMatch, signal }), flags)
      })
    })
}
