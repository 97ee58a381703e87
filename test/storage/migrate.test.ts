import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { SetupError } from '../../src/errors.ts'
import { type Migration, migrate, readMigrations } from '../../src/storage/migrate.ts'
import { temporaryFolder } from './sqlite/temporary-storage.ts'

const MIGRATIONS: readonly Migration[] = [1, 2, 3].map((version) => ({
  version,
  name: `000${version}-step`,
  sql: `step ${version}`,
}))

/** A database that has these versions, and notes what is applied to it. */
function ledgerWith(...versions: number[]) {
  const applied: Migration[] = []
  return {
    applied,
    appliedVersions: () => versions,
    apply: (migration: Migration) => void applied.push(migration),
  }
}

describe('migrate', () => {
  test('a new database gets every migration, in order', () => {
    const ledger = ledgerWith()
    migrate(ledger, MIGRATIONS)
    assert.deepEqual(ledger.applied, MIGRATIONS)
  })

  test('an older database gets what it lacks, and one that is up to date nothing', () => {
    const older = ledgerWith(1)
    migrate(older, MIGRATIONS)
    assert.deepEqual(older.applied, MIGRATIONS.slice(1))
    const current = ledgerWith(1, 2, 3)
    migrate(current, MIGRATIONS)
    assert.deepEqual(current.applied, [])
  })

  test('a newer database is refused before anything is done to it', () => {
    const newer = ledgerWith(1, 2, 4)
    assert.throws(
      () => migrate(newer, MIGRATIONS),
      (error) => error instanceof SetupError && /version 4, this program knows 3/.test(error.message),
    )
    assert.deepEqual(newer.applied, [])
  })

  test('a migration that fails stops those behind it', () => {
    const applied: number[] = []
    const ledger = {
      appliedVersions: () => [],
      apply({ version }: Migration) {
        if (version === 2) throw new Error('the disk is full')
        applied.push(version)
      },
    }
    assert.throws(() => migrate(ledger, MIGRATIONS), /the disk is full/)
    assert.deepEqual(applied, [1])
  })

  test('migrations are read in the order of their numbers, and other files are left alone', (t) => {
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
