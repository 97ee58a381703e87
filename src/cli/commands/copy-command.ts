import type { Command } from 'commander'
import { readConfig } from '../../config/read-config.ts'
import { parseSetting } from '../../config/setting.ts'
import { SETTINGS } from '../../config/settings.ts'
import { SetupError } from '../../errors.ts'
import { type CopyReport, copyStorage } from '../../storage/copy-storage.ts'
import { describeDatabase, openStorage } from '../../storage/open-storage.ts'
import type { Storage } from '../../storage/storage.ts'
import { untilInterrupted } from '../calls/until-interrupted.ts'
import type { CommandContext, OutputStream } from '../command-context.ts'
import { CommandFailure } from '../output/command-failure.ts'
import { reportMigration } from '../output/migration-text.ts'
import { createProgressBar, plantCount, wholeNumber } from '../output/progress-bar.ts'
import { messageStream, type QuietFlag, quietOption } from '../output/quiet.ts'
import { print } from '../output/standard-output.ts'

interface CopyFlags extends QuietFlag {
  from: string
  to: string
}

/** `plantstore copy`: copies a store from SQLite to PostgreSQL, or back. */
export function addCopyCommand(program: Command, context: CommandContext): void {
  program
    .command('copy')
    .description('Copy a store with its tokens to another database, and compare them')
    .requiredOption('--from <file or URL>', 'Source; stop its service first')
    .requiredOption('--to <file or URL>', 'Target; created if missing')
    .addOption(quietOption())
    .addHelpText(
      'after',
      '\nPlants and tokens that the target already has are left unchanged: run an interrupted copy again to finish it.\n\nExample:\n  plantstore copy --from data/plantstore.db --to postgres://user@host/plants',
    )
    .action((flags: CopyFlags) => copy(context, flags))
}

async function copy(
  context: CommandContext,
  { from: fromName, to: toName, ...flags }: CopyFlags,
): Promise<void> {
  const config = readConfig({}, context.environment)
  for (const [flag, name] of [
    ['--from', fromName],
    ['--to', toName],
  ] as const) {
    parseSetting(flag, SETTINGS.database, name)
  }
  if (fromName === toName) throw new SetupError('--from and --to name the same store.')
  const optionsFor = (database: string) => ({
    ...config,
    onMigrated: reportMigration(context.stderr, database),
  })
  const from = await openStorage(fromName, { ...optionsFor(fromName), mustExistAt: '--from' })
  try {
    const to = await openStorage(toName, optionsFor(toName))
    try {
      const report = await copyWithBar(from, to, messageStream(context, flags))
      if (flags.quiet) return
      await print(
        context.stdout,
        `${plantCount(report.plants)} and ${tokenCount(report.tokens)} are in ${describeDatabase(toName)}, each compared.\n`,
      )
    } finally {
      await to.close()
    }
  } finally {
    await from.close()
  }
}

function tokenCount(count: number): string {
  return `${wholeNumber(count)} ${count === 1 ? 'token' : 'tokens'}`
}

async function copyWithBar(from: Storage, to: Storage, messages: OutputStream): Promise<CopyReport> {
  let step = 'copied'
  const bar = createProgressBar(messages, 'copying', ({ done }) => `${plantCount(done)} ${step}`)
  try {
    return await untilInterrupted((signal) =>
      copyStorage({
        from,
        to,
        onProgress(now, plants) {
          step = now
          bar.update({ done: plants, rows: plants })
          if (!signal.aborted) return
          const { message, exitCode } = signal.reason as CommandFailure
          const done = `${plantCount(plants)} ${step}`
          throw new CommandFailure(`${message} ${done}: run it again to finish the copy.`, exitCode)
        },
      }),
    )
  } finally {
    bar.end()
  }
}
