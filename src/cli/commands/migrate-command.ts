import type { Command } from 'commander'
import { type Config, readConfig } from '../../config/read-config.ts'
import { describeDatabase, openStorage, shardStorage } from '../../storage/open-storage.ts'

/** `plantstore migrate`: for who may change the schema, where the service may not (PLANTSTORE_MIGRATE=false). */
export function addMigrateCommand(program: Command): void {
  program
    .command('migrate')
    .description('make the store where it is missing and bring its schema up to date, without serving it')
    .option('--database <file or URL>', 'the store (PLANTSTORE_DATABASE)')
    .option('--shard', 'then distribute its tables over the Citus cluster that the database coordinates')
    .addHelpText(
      'after',
      '\nExample:\n  PLANTSTORE_DATABASE=postgres://owner:password@host/plants plantstore migrate',
    )
    .action(async ({ database, shard = false }: { database?: string; shard?: boolean }) => {
      const config = readConfig(database === undefined ? {} : { database })
      await (shard ? migrateAndShard(config) : migrate(config))
    })
}

async function migrate(config: Config): Promise<void> {
  const storage = await openStorage(config.database, { ...config, migrate: true })
  await storage.close()
  process.stdout.write(`The schema of ${describeDatabase(config.database)} is up to date.\n`)
}

async function migrateAndShard(config: Config): Promise<void> {
  const tables = await shardStorage(config.database, config)
  const done =
    tables.length === 0 ? 'Every table was distributed before' : `Distributed: ${tables.join(', ')}`
  process.stdout.write(`The schema of ${describeDatabase(config.database)} is up to date. ${done}.\n`)
}
