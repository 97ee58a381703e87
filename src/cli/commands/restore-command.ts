import type { Command } from 'commander'
import { readConfig } from '../../config/read-config.ts'
import { databaseFile } from '../../storage/open-storage.ts'
import { untilInterrupted } from '../calls/until-interrupted.ts'
import type { CommandContext } from '../command-context.ts'
import { createCopyBar, plantCount } from '../output/progress-bar.ts'
import { messageStream, type QuietFlag, quietOption } from '../output/quiet.ts'
import { databaseOption, parseFile } from './command-values.ts'

interface RestoreFlags extends QuietFlag {
  database?: string
  force?: boolean
}

/** `plantstore restore`: creates or replaces a store from a backup. */
export function addRestoreCommand(program: Command, context: CommandContext): void {
  program
    .command('restore')
    .description('Restore a store from a backup; stop the service first')
    .argument('<file>', 'Backup file', parseFile)
    .addOption(databaseOption('file'))
    .option('--force', 'Replace an existing store; it is retained under another name')
    .addOption(quietOption())
    .addHelpText(
      'after',
      `
The backup is verified first and left unchanged. Tokens that were revoked after the backup are valid again.

Example:
  plantstore restore plants-backup.db --database restored/plantstore.db`,
    )
    .action((file: string, flags: RestoreFlags) => restore(context, file, flags))
}

async function restore(
  context: CommandContext,
  file: string,
  { database, force = false, ...flags }: RestoreFlags,
): Promise<void> {
  const messages = messageStream(context, flags)
  const config = readConfig(database === undefined ? {} : { database }, context.environment)
  const store = databaseFile(config.database, 'restore')
  const bar = createCopyBar(messages, 'restoring')
  try {
    const { plants, keptAs } = await untilInterrupted((signal) =>
      store.restore(file, {
        signal,
        mayReplace: force,
        onProgress: bar.onProgress,
      }),
    )
    bar.end()
    messages.write(`${plantCount(plants)} in ${config.database}, verified.\n`)
    if (keptAs !== undefined) {
      messages.write(`The previous store is ${keptAs}: delete it when you no longer need it.\n`)
    }
    messages.write('Tokens revoked after the backup are valid again: see "plantstore token list".\n')
  } finally {
    bar.end()
  }
}
