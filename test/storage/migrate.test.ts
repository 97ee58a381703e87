import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { SetupError } from '../../src/errors.ts'
import { type Migration, missingMigrations, readMigrations } from '../../src/storage/migrate.ts'
import { temporaryFolder } from './sqlite/temporary-storage.ts'

const MIGRATIONS: readonly Migration[] = [1, 2, 3].map((version) => ({
  version,
  name: `000${version}-step`,
  sql: `step ${version}`,
}))

describe('migrations', () => {
  test('a new database lacks every migration, in order', () => {
    assert.deepEqual(missingMigrations([], MIGRATIONS), MIGRATIONS)
  })

  test('an older database lacks the newer migrations, and an up-to-date one none', () => {
    assert.deepEqual(missingMigrations([1], MIGRATIONS), MIGRATIONS.slice(1))
    assert.deepEqual(missingMigrations([1, 2, 3], MIGRATIONS), [])
  })

  test('a newer database is rejected', () => {
    assert.throws(
      () => missingMigrations([1, 2, 4], MIGRATIONS),
      (error) => error instanceof SetupError && /version 4, this program supports 3/.test(error.message),
    )
  })

  test('migrations are read in the order of their numbers, and other files are ignored', (t) => {
    const folder = temporaryFolder(t)
    for (const [file, sql] of [
      ['0010-tenth.sql', 'ten'],
      ['0002-second.sql', 'two'],
      ['0001-first.sql', 'one'],
      ['README.md', 'no migration'],
    ] as const) {
      writeFileSync(join(folder, file), sql)
    }
    assert.deepEqual(readMigrations(pathToFileURL(`${folder}/`)), [
      { version: 1, name: '0001-first', sql: 'one' },
      { version: 2, name: '0002-second', sql: 'two' },
      { version: 10, name: '0010-tenth', sql: 'ten' },
    ])
  })
})
