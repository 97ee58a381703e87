import type { Command } from 'commander'
import { readConfig } from '../../config/read-config.ts'
import { storeFile } from '../../storage/open-storage.ts'
import { untilInterrupted } from '../calls/until-interrupted.ts'
import { createCopyBar, plantCount } from '../output/progress-bar.ts'

/** `plantstore restore`: puts a backup in the place of a store. */
export function addRestoreCommand(program: Command): void {
  program
    .command('restore')
    .description('make a store of a backup, while no service runs on it')
    .argument('<file>', 'the backup')
    .option('--database <file>', 'where the store is to be (PLANTSTORE_DATABASE)')
    .option('--force', 'replace the store that is there; it is kept beside, under another name')
    .addHelpText(
      'after',
      `
The backup is examined first, and stays. Everything is as it was when it was made: a token that was revoked since is
valid again.

Example:
  plantstore restore plants-backup.db --database restored/plantstore.db`,
    )
    .action(restore)
}

async function restore(
  file: string,
  { database, force = false }: { database?: string; force?: boolean },
): Promise<void> {
  const config = readConfig(database === undefined ? {} : { database })
  const store = storeFile(config.database, 'restoring it')
  const bar = await createCopyBar('restoring')
  try {
    const { plants, keptAs } = await untilInterrupted((signal) =>
      store.restore(file, {
        signal,
        mayReplace: force,
        onProgress: bar.onProgress,
      }),
    )
    bar.end()
    process.stderr.write(`${plantCount(plants)} in ${config.database}, examined.\n`)
    if (keptAs !== undefined) {
      process.stderr.write(`What was there is ${keptAs}: remove it when nobody needs it.\n`)
    }
    process.stderr.write(
      'Tokens are as they were: one that was revoked after the backup is valid again. See "plantstore token list".\n',
    )
  } finally {
    bar.end()
  }
}
