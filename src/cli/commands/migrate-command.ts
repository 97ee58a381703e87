import type { Command } from 'commander'
import { type Config, readConfig } from '../../config/read-config.ts'
import { describeDatabase, openStorage, shardStorage } from '../../storage/open-storage.ts'
import type { SchemaMigration } from '../../storage/storage.ts'
import type { CommandContext } from '../command-context.ts'
import { migrationText } from '../output/migration-text.ts'
import { type QuietFlag, quietOption } from '../output/quiet.ts'
import { print } from '../output/standard-output.ts'
import { databaseOption } from './command-values.ts'

interface MigrateFlags extends QuietFlag {
  database?: string
  shard?: boolean
}

/**
 * `plantstore migrate`: updates the schema. With PLANTSTORE_MIGRATE=false the service's own role needs no right to do
 * so.
 */
export function addMigrateCommand(program: Command, context: CommandContext): void {
  program
    .command('migrate')
    .description('Create a database or update its schema')
    .addOption(databaseOption('file or URL'))
    .option('--shard', 'Then distribute the tables over the Citus cluster')
    .addOption(quietOption())
    .addHelpText(
      'after',
      '\nExample:\n  PLANTSTORE_DATABASE=postgres://owner:password@host/plants plantstore migrate',
    )
    .action(async ({ database, shard = false, quiet }: MigrateFlags) => {
      const config = readConfig(database === undefined ? {} : { database }, context.environment)
      const done = await (shard ? migrateAndShard(config) : migrate(config))
      if (quiet) return
      await print(
        context.stdout,
        `The schema of ${describeDatabase(config.database)} is up to date.${done}\n`,
      )
    })
}

async function migrate(config: Config): Promise<string> {
  let done = ''
  const onMigrated = (migration: SchemaMigration) => {
    done = ` ${migrationText(migration)}`
  }
  const storage = await openStorage(config.database, { ...config, migrate: true, onMigrated })
  await storage.close()
  return done
}

async function migrateAndShard(config: Config): Promise<string> {
  const tables = await shardStorage(config.database, config)
  return tables.length === 0 ? ' Every table was already distributed.' : ` Distributed: ${tables.join(', ')}.`
}
