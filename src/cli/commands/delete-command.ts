import type { Command } from 'commander'
import { addServiceOptions, callService, type ServiceFlags } from '../calls/service-call.ts'
import type { CommandContext } from '../command-context.ts'
import { CommandFailure, EXIT_USAGE } from '../output/command-failure.ts'
import { messageStream, type QuietFlag, quietOption } from '../output/quiet.ts'
import { sentences } from '../output/sentences.ts'
import { parseETag, parseIds } from './command-values.ts'

interface DeleteFlags extends ServiceFlags, QuietFlag {
  ifMatch?: string
}

/** `plantstore delete`: one or several plants, in sequence. */
export function addDeleteCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('delete')
    .description('Delete plants; this cannot be undone')
    .argument('<ids...>', 'Ids', parseIds)
    .option('--if-match <etag>', 'Delete only if the plant still has this ETag; takes a single id', parseETag)
  addServiceOptions(command.addOption(quietOption()))
    .addHelpText('after', '\nExample:\n  plantstore delete 42 43')
    .action((ids: bigint[], flags: DeleteFlags) => deletePlants(context, ids, flags))
}

async function deletePlants(
  context: CommandContext,
  ids: bigint[],
  { ifMatch, ...flags }: DeleteFlags,
): Promise<void> {
  if (ifMatch !== undefined && ids.length > 1) {
    throw new CommandFailure('--if-match takes a single id.', EXIT_USAGE)
  }
  const messages = messageStream(context, flags)
  let deleted = 0
  try {
    await callService(context, flags, async ({ client, signal }) => {
      for (const id of ids) {
        if (await client.deletePlant(id, { ifMatch, signal })) {
          deleted++
          messages.write(`Plant ${id} is deleted.\n`)
        } else {
          context.stderr.write(`plantstore: There is no plant ${id}.\n`)
        }
      }
    })
  } catch (error) {
    if (!(error instanceof CommandFailure) || ids.length === 1) throw error
    throw new CommandFailure(
      sentences(error.message, `${deleted} of ${ids.length} were deleted.`),
      error.exitCode,
    )
  }
  if (deleted < ids.length) throw new CommandFailure('')
}
