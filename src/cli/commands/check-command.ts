import type { Command } from 'commander'
import { readConfig } from '../../config/read-config.ts'
import { storeFile } from '../../storage/open-storage.ts'
import { untilInterrupted } from '../calls/until-interrupted.ts'
import { CommandFailure, EXIT_USAGE } from '../output/command-failure.ts'
import { printable } from '../output/printable.ts'
import { createProgressBar } from '../output/progress-bar.ts'
import { print } from '../output/standard-output.ts'

/** `plantstore check`: looks whether a store is sound. */
export function addCheckCommand(program: Command): void {
  program
    .command('check')
    .description('examine a store or a backup, also beside a running service; changes nothing')
    .argument('[file]', 'the store or the backup; without it, the store of the settings')
    .option('--database <file>', 'the store (PLANTSTORE_DATABASE)')
    .addHelpText(
      'after',
      `
Every page, index and row is read. What is wrong is printed, a line each, and the exit code is 1.

Example:
  plantstore check plants-backup.db`,
    )
    .action(check)
}

async function check(file: string | undefined, flags: { database?: string }): Promise<void> {
  if (file !== undefined && flags.database !== undefined) {
    throw new CommandFailure('Name the store by itself or with --database, not both.', EXIT_USAGE)
  }
  const database = file ?? flags.database
  const config = readConfig(database === undefined ? {} : { database })
  const store = storeFile(config.database, 'checking it')
  let doing = ''
  const bar = await createProgressBar('checking', ({ done, total }) => `${done} of ${total}: ${doing}`)
  let findings: string[]
  try {
    findings = await untilInterrupted((signal) =>
      store.check({
        signal,
        onProgress(progress) {
          doing = progress.doing
          bar.update(progress)
        },
      }),
    )
  } finally {
    bar.end()
  }
  if (findings.length === 0) {
    process.stderr.write(`${config.database} is sound.\n`)
    return
  }
  await print(findings.map((finding) => `${printable(finding)}\n`).join(''))
  throw new CommandFailure(`${config.database} is damaged: restore a backup ("plantstore restore --help").`)
}
