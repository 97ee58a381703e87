import type { Command } from 'commander'
import type { PlantUpdate } from '../../client/plant-store-client.ts'
import { addServiceOptions, callService, type ServiceFlags } from '../calls/service-call.ts'
import { CommandFailure, EXIT_USAGE } from '../output/command-failure.ts'
import { addJsonOption, type JsonFlag, printPlant } from '../output/plant-output.ts'
import { parseETag, parseId } from './command-values.ts'

interface ChangeFlags extends ServiceFlags, JsonFlag {
  name?: string
  /** `false` is what --no-tag says. */
  tag?: string | false
  ifMatch?: string
}

/** `plantstore change`: name and tag of a plant. */
export function addUpdateCommand(program: Command): void {
  const command = program
    .command('change')
    .description('change the name or the tag of a plant; what is not given stays')
    .argument('<id>', 'its id', parseId)
    .option('--name <name>', 'its new name')
    .option('--tag <tag>', 'its new tag')
    .option('--no-tag', 'take its tag away')
    .option('--if-match <etag>', 'only if it still has this ETag, as "plantstore get" shows it', parseETag)
  // Both would set the same thing: the last one would win, in silence.
  const tagFlags = new Set<string>()
  for (const flag of ['tag', 'no-tag']) command.on(`option:${flag}`, () => tagFlags.add(flag))
  addServiceOptions(addJsonOption(command))
    .addHelpText(
      'after',
      '\nExamples:\n  plantstore change 42 --name "Quercus petraea"\n  plantstore change 42 --no-tag',
    )
    .action((id: bigint, { name, tag, ifMatch, ...flags }: ChangeFlags) => {
      if (tagFlags.size > 1) {
        throw new CommandFailure('--tag and --no-tag do not go together: give one of them.', EXIT_USAGE)
      }
      const change: PlantUpdate = {}
      if (name !== undefined) change.name = name
      if (tag !== undefined) change.tag = tag === false ? null : tag
      if (Object.keys(change).length === 0) {
        throw new CommandFailure('Nothing to change: give --name, --tag or --no-tag.', EXIT_USAGE)
      }
      return callService(flags, async ({ client, signal }) => {
        await printPlant(await client.updatePlant(id, change, { ifMatch, signal }), flags)
      })
    })
}
