import type { Command } from 'commander'
import { readConfig } from '../../config/read-config.ts'
import { printable } from '../../printable.ts'
import { databaseFile } from '../../storage/open-storage.ts'
import { untilInterrupted } from '../calls/until-interrupted.ts'
import type { CommandContext } from '../command-context.ts'
import { CommandFailure, EXIT_USAGE } from '../output/command-failure.ts'
import { createProgressBar } from '../output/progress-bar.ts'
import { messageStream, type QuietFlag, quietOption } from '../output/quiet.ts'
import { print } from '../output/standard-output.ts'
import { databaseOption } from './command-values.ts'

interface CheckFlags extends QuietFlag {
  database?: string
}

/** `plantstore check`: verifies a store. */
export function addCheckCommand(program: Command, context: CommandContext): void {
  program
    .command('check')
    .description('Verify a store or a backup, also while the service runs')
    .argument('[file]', 'Store or backup to verify (default: the store of --database)')
    .addOption(databaseOption('file'))
    .addOption(quietOption())
    .addHelpText(
      'after',
      `
Reads every page, index and row, and changes nothing. Prints a line per fault, and exits with 1 if there is one.

Example:
  plantstore check plants-backup.db`,
    )
    .action((file: string | undefined, flags: CheckFlags) => check(context, file, flags))
}

async function check(context: CommandContext, file: string | undefined, flags: CheckFlags): Promise<void> {
  const messages = messageStream(context, flags)
  if (file !== undefined && flags.database !== undefined) {
    throw new CommandFailure('Name the store as an argument or with --database, not both.', EXIT_USAGE)
  }
  const database = file ?? flags.database
  const config = readConfig(database === undefined ? {} : { database }, context.environment)
  const store = databaseFile(config.database, 'check')
  let doing = ''
  const bar = createProgressBar(messages, 'checking', ({ done, total }) => `${done} of ${total}: ${doing}`)
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
    messages.write(`${config.database} is sound.\n`)
    return
  }
  await print(context.stdout, findings.map((finding) => `${printable(finding)}\n`).join(''))
  throw new CommandFailure(`${config.database} is damaged: restore a backup ("plantstore restore --help").`)
}
