import { describeDatabase } from '../../storage/open-storage.ts'
import type { SchemaMigration } from '../../storage/storage.ts'
import type { OutputStream } from '../command-context.ts'

/** `Migrated from version 1 to 4 in 12 ms.` */
export function migrationText({ from, to, durationMs }: SchemaMigration): string {
  return `Migrated from version ${from} to ${to} in ${durationMs} ms.`
}

/** Reports a migration of a database by a command with another purpose. */
export function reportMigration(stderr: OutputStream, database: string) {
  return (migration: SchemaMigration): void => {
    stderr.write(`The schema of ${describeDatabase(database)} was older. ${migrationText(migration)}\n`)
  }
}
