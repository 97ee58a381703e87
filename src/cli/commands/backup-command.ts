import type { Command } from 'commander'
import { readConfig } from '../../config/read-config.ts'
import { databaseFile } from '../../storage/open-storage.ts'
import { untilInterrupted } from '../calls/until-interrupted.ts'
import type { CommandContext } from '../command-context.ts'
import { byteSize, createCopyBar, plantCount } from '../output/progress-bar.ts'
import { messageStream, type QuietFlag, quietOption } from '../output/quiet.ts'
import { databaseOption, parseFile } from './command-values.ts'

interface BackupFlags extends QuietFlag {
  database?: string
  force?: boolean
}

/** `plantstore backup`: copies a store to a file, also while a service runs on it. */
export function addBackupCommand(program: Command, context: CommandContext): void {
  program
    .command('backup')
    .description('Back up a store, also while the service runs')
    .argument('<file>', 'Backup file to write', parseFile)
    .addOption(databaseOption('file'))
    .option('--force', 'Replace an existing file')
    .addOption(quietOption())
    .addHelpText(
      'after',
      `
The backup has every plant that was acknowledged before it began, and the hashes of the tokens. The file appears when it
is complete, verified and on disk.

Example:
  plantstore backup plants-backup.db`,
    )
    .action((file: string, flags: BackupFlags) => backUp(context, file, flags))
}

async function backUp(
  context: CommandContext,
  file: string,
  { database, force = false, ...flags }: BackupFlags,
): Promise<void> {
  const messages = messageStream(context, flags)
  const config = readConfig(database === undefined ? {} : { database }, context.environment)
  const store = databaseFile(config.database, 'backup')
  const bar = createCopyBar(messages, 'backing up')
  try {
    const { plants, bytes } = await untilInterrupted((signal) =>
      store.backUp(file, {
        signal,
        mayReplace: force,
        onProgress: bar.onProgress,
      }),
    )
    bar.end()
    messages.write(`${plantCount(plants)} in ${file} (${byteSize(bytes)}), verified.\n`)
  } finally {
    bar.end()
  }
}
