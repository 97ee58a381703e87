import type { Command } from 'commander'
import { readConfig } from '../../config/read-config.ts'
import { SetupError } from '../../errors.ts'
import { type CopyReport, copyStorage } from '../../storage/copy-storage.ts'
import { describeDatabase, openStorage } from '../../storage/open-storage.ts'
import type { Storage } from '../../storage/storage.ts'
import { untilInterrupted } from '../calls/until-interrupted.ts'
import { CommandFailure } from '../output/command-failure.ts'
import { createProgressBar, plantCount, wholeNumber } from '../output/progress-bar.ts'

/** `plantstore copy`: moves a store from a file to PostgreSQL, or back. */
export function addCopyCommand(program: Command): void {
  program
    .command('copy')
    .description('copy a whole store, tokens included, into another one, and compare the two')
    .requiredOption('--from <file or URL>', 'the store that is copied; nothing should write to it meanwhile')
    .requiredOption('--to <file or URL>', 'the store that gets it; made when missing')
    .addHelpText(
      'after',
      '\nWhat is there already is left as it is: a copy that broke off is finished by running it again.\n\nExample:\n  plantstore copy --from data/plantstore.db --to postgres://user:password@host/plants',
    )
    .action(copy)
}

async function copy({ from: fromName, to: toName }: { from: string; to: string }): Promise<void> {
  const config = readConfig()
  if (fromName === toName) throw new SetupError('--from and --to name the same store.')
  const from = await openStorage(fromName, { ...config, mustExistAt: '--from' })
  try {
    const to = await openStorage(toName, config)
    try {
      const report = await copyWithBar(from, to)
      process.stdout.write(
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

async function copyWithBar(from: Storage, to: Storage): Promise<CopyReport> {
  let step = 'copied'
  const bar = await createProgressBar('copying', ({ done }) => `${plantCount(done)} ${step}`)
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
