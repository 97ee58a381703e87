import type { Command } from 'commander'
import { readConfig } from '../config.ts'
import { SetupError } from '../errors.ts'
import { copyStorage } from '../storage/copy-storage.ts'
import { describeDatabase, openStorage } from '../storage/open-storage.ts'

const PROGRESS_INTERVAL_MS = 200

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
  const from = await openStorage(fromName, { ...config, mustExist: true })
  try {
    const to = await openStorage(toName, config)
    try {
      const report = await copyStorage({ from, to, onProgress: progressLine() })
      if (process.stderr.isTTY) process.stderr.write('\n')
      process.stdout.write(
        `${report.plants} plants and ${report.tokens} tokens are in ${describeDatabase(toName)}, each compared.\n`,
      )
    } finally {
      await to.close()
    }
  } finally {
    await from.close()
  }
}

/** A line on the terminal that is written over itself; nothing where nobody watches. */
function progressLine(): (step: 'copied' | 'compared', plants: number) => void {
  const startMs = performance.now()
  let shownMs = 0
  return (step, plants) => {
    const now = performance.now()
    if (!process.stderr.isTTY || now - shownMs < PROGRESS_INTERVAL_MS) return
    shownMs = now
    const perSecond = Math.round((plants / (now - startMs)) * 1000)
    process.stderr.write(`\r${step} ${plants} plants${step === 'copied' ? `, ${perSecond} a second` : ''}   `)
  }
}
