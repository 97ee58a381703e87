import type { Command } from 'commander'
import { readConfig } from '../config.ts'
import { describeDatabase, openStorage } from '../storage/open-storage.ts'

/** `plantstore migrate`: for who may change the schema, where the service may not (PLANTSTORE_MIGRATE=off). */
export function addMigrateCommand(program: Command): void {
  program
    .command('migrate')
    .description('make the store where it is missing and bring its schema up to date, without serving it')
    .option('--database <file or URL>', 'the store (PLANTSTORE_DATABASE)')
    .addHelpText(
      'after',
      '\nExample:\n  PLANTSTORE_DATABASE=postgres://owner:password@host/plants plantstore migrate',
    )
    .action(async ({ database }: { database?: string }) => {
      const config = readConfig(database === undefined ? {} : { database })
      const storage = await openStorage(config.database, { ...config, migrate: 'on' })
      await storage.close()
      process.stdout.write(`The schema of ${describeDatabase(config.database)} is up to date.\n`)
    })
}
