import type { Command } from 'commander'
import { readConfig } from '../../config/read-config.ts'
import { storeFile } from '../../storage/open-storage.ts'
import { untilInterrupted } from '../calls/until-interrupted.ts'
import type { CommandContext } from '../command-context.ts'
import { createCopyBar, plantCount } from '../output/progress-bar.ts'

interface RestoreFlags {
  database?: string
  force?: boolean
}

/** `plantstore restore`: replaces a store with a backup. */
export function addRestoreCommand(program: Command, context: CommandContext): void {
  program
    .command('restore')
    .description('create a store from a backup, while no service runs on it')
    .argument('<file>', 'the backup')
    .option('--database <file>', 'the store (PLANTSTORE_DATABASE)')
    .option('--force', 'replace an existing store, which is retained under another name')
    .addHelpText(
      'after',
      `
The backup is verified first, and is left unchanged. Everything is restored to the time of the backup: a token that was
revoked since then is valid again.

Example:
  plantstore restore plants-backup.db --database restored/plantstore.db`,
    )
    .action((file: string, flags: RestoreFlags) => restore(context, file, flags))
}

async function restore(
  { environment, stderr }: CommandContext,
  file: string,
  { database, force = false }: RestoreFlags,
): Promise<void> {
  const config = readConfig(database === undefined ? {} : { database }, environment)
  const store = storeFile(config.database, 'restoring it')
  const bar = createCopyBar(stderr, 'restoring')
  try {
    const { plants, keptAs } = await untilInterrupted((signal) =>
      store.restore(file, {
        signal,
        mayReplace: force,
        onProgress: bar.onProgress,
      }),
    )
    bar.end()
    stderr.write(`${plantCount(plants)} in ${config.database}, verified.\n`)
    if (keptAs !== undefined) {
      stderr.write(`The previous store is ${keptAs}: delete it when you no longer need it.\n`)
    }
    stderr.write('Tokens revoked after the backup are valid again: see "plantstore token list".\n')
  } finally {
    bar.end()
  }
}
