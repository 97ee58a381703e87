import type { Command } from 'commander'
import { addServiceOptions, callService, type ServiceFlags } from '../calls/service-call.ts'
import { CommandFailure, EXIT_FAILURE, EXIT_USAGE } from '../output/command-failure.ts'
import { sentences } from '../output/sentences.ts'
import { parseETag, parseIds } from './command-values.ts'

interface RemoveFlags extends ServiceFlags {
  ifMatch?: string
}

/** `plantstore remove`: one plant or several, one after the other. */
export function addDeleteCommand(program: Command): void {
  const command = program
    .command('remove')
    .description('remove plants, for good')
    .argument('<ids...>', 'their ids', parseIds)
    .option('--if-match <etag>', 'only if it still has this ETag; with one id', parseETag)
  addServiceOptions(command).addHelpText('after', '\nExample:\n  plantstore remove 42 43').action(remove)
}

async function remove(ids: bigint[], { ifMatch, ...flags }: RemoveFlags): Promise<void> {
  if (ifMatch !== undefined && ids.length > 1) {
    throw new CommandFailure('--if-match is about one plant: give one id.', EXIT_USAGE)
  }
  let removed = 0
  try {
    await callService(flags, async ({ client, signal }) => {
      for (const id of ids) {
        if (await client.deletePlant(id, { ifMatch, signal })) {
          removed++
          process.stderr.write(`Plant ${id} is removed.\n`)
        } else {
          process.stderr.write(`plantstore: There is no plant ${id}.\n`)
          process.exitCode = EXIT_FAILURE
        }
      }
    })
  } catch (error) {
    if (!(error instanceof CommandFailure) || ids.length === 1) throw error
    throw new CommandFailure(
      sentences(error.message, `${removed} of ${ids.length} are removed.`),
      error.exitCode,
    )
  }
}
