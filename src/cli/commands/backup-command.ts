import type { Command } from 'commander'
import { readConfig } from '../../config/read-config.ts'
import { storeFile } from '../../storage/open-storage.ts'
import { untilInterrupted } from '../calls/until-interrupted.ts'
import { byteSize, createCopyBar, plantCount } from '../output/progress-bar.ts'

/** `plantstore backup`: a copy of a store in a file, also beside a running service. */
export function addBackupCommand(program: Command): void {
  program
    .command('backup')
    .description('back up a store, on the machine where it is, while the service runs')
    .argument('<file>', 'where to')
    .option('--database <file>', 'the store (PLANTSTORE_DATABASE)')
    .option('--force', 'replace the file when it is there')
    .addHelpText(
      'after',
      `
Every plant that was acknowledged before it began is in the file, which takes its name when it is whole, examined
and on disk. It holds everything, tokens (as hashes) included.

Example:
  plantstore backup plants-backup.db`,
    )
    .action(backUp)
}

async function backUp(
  file: string,
  { database, force = false }: { database?: string; force?: boolean },
): Promise<void> {
  const config = readConfig(database === undefined ? {} : { database })
  const store = storeFile(config.database, 'backing it up')
  const bar = await createCopyBar('backing up')
  try {
    const { plants, bytes } = await untilInterrupted((signal) =>
      store.backUp(file, {
        signal,
        mayReplace: force,
        onProgress: bar.onProgress,
      }),
    )
    bar.end()
    process.stderr.write(`${plantCount(plants)} in ${file} (${byteSize(bytes)}), examined.\n`)
  } finally {
    bar.end()
  }
}
