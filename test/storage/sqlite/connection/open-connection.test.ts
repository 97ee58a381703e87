import assert from 'node:assert/strict'
import { closeSync, existsSync, openSync, readdirSync, readlinkSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { SetupError } from '../../../../src/errors.ts'
import { storageError } from '../../../../src/storage/sqlite/connection/failure.ts'
import { inTransaction } from '../../../../src/storage/sqlite/connection/in-transaction.ts'
import {
  openReader,
  openWriter,
  prepareFile,
} from '../../../../src/storage/sqlite/connection/open-connection.ts'
import { temporaryFolder } from '../temporary-storage.ts'

const MIGRATIONS = readdirSync(new URL('../../../../src/storage/sqlite/migrations/', import.meta.url)).sort()

const prepare = (path: string, checkOnStart = false) => prepareFile(path, { checkOnStart })

/** A SetupError of one line that mentions the file and says `reason`. */
function isPlainLine(path: string, reason: RegExp) {
  return (error: unknown) => {
    assert.ok(error instanceof SetupError)
    assert.ok(!error.message.includes('\n') && error.message.length < 300, error.message)
    assert.ok(error.message.includes(path), error.message)
    assert.match(error.message, reason)
    return true
  }
}

function query(path: string, sql: string): unknown[] {
  using database = new DatabaseSync(path)
  return database
    .prepare(sql)
    .all()
    .flatMap((row) => Object.values(row))
}

describe('preparing the file', () => {
  test('a new file gets every migration, and the ledger has their numbers and times', (t) => {
    const path = join(temporaryFolder(t), 'plants.db')
    const before = new Date().toISOString()
    prepare(path)
    const names = query(path, 'SELECT name FROM migrations ORDER BY version')
    assert.deepEqual(
      names.map((name) => `${name}.sql`),
      MIGRATIONS,
    )
    assert.deepEqual(
      query(path, 'SELECT version FROM migrations'),
      MIGRATIONS.map((_, at) => at + 1),
    )
    for (const time of query(path, 'SELECT applied_at FROM migrations') as string[]) {
      assert.ok(time >= before && time <= new Date().toISOString(), time)
    }
    assert.deepEqual(query(path, 'PRAGMA journal_mode'), ['wal'])
  })

  test('every table is strict about its types', (t) => {
    const path = join(temporaryFolder(t), 'plants.db')
    prepare(path)
    const loose = `SELECT name FROM pragma_table_list
      WHERE schema = 'main' AND type = 'table' AND NOT strict AND name NOT LIKE 'sqlite_%'`
    assert.deepEqual(query(path, loose), [])
  })

  test('a file that is up to date is not changed', (t) => {
    const path = join(temporaryFolder(t), 'plants.db')
    prepare(path)
    const ledger = query(path, 'SELECT * FROM migrations')
    prepare(path, true)
    assert.deepEqual(query(path, 'SELECT * FROM migrations'), ledger)
  })

  test('a file of an older version gets the missing migrations, and keeps its plants', (t) => {
    const path = join(temporaryFolder(t), 'plants.db')
    prepare(path)
    {
      using database = new DatabaseSync(path)
      database.exec(`INSERT INTO plants VALUES (1, 'Rosa', NULL, 1, 1, 1);
        DROP TABLE tokens; DELETE FROM migrations WHERE version >= 3`)
    }
    prepare(path)
    assert.deepEqual(query(path, 'SELECT count(*) FROM tokens'), [0])
    assert.deepEqual(query(path, 'SELECT name FROM plants'), ['Rosa'])
  })

  test('tokens of a file older than rotation are not changed, and can be rotated', (t) => {
    const path = join(temporaryFolder(t), 'plants.db')
    prepare(path)
    {
      using database = new DatabaseSync(path)
      database.exec(`DROP INDEX tokens_by_previous_hash;
        ALTER TABLE tokens DROP COLUMN previous_hash; ALTER TABLE tokens DROP COLUMN previous_expires_at;
        INSERT INTO tokens VALUES ('a', 'hash', 'label', 'plants:read', 1, NULL, 2);
        DELETE FROM migrations WHERE version = 4`)
    }
    prepare(path)
    assert.deepEqual(query(path, 'SELECT hash FROM tokens WHERE previous_hash IS NULL'), ['hash'])
  })

  test('a failed migration is rolled back, with the reason in one line', (t) => {
    const path = join(temporaryFolder(t), 'plants.db')
    {
      using database = new DatabaseSync(path)
      // The second statement of the first migration fails.
      database.exec('CREATE TABLE idempotency_keys (other TEXT)')
    }
    assert.throws(() => prepare(path), isPlainLine(path, /idempotency_keys already exists/))
    assert.deepEqual(query(path, "SELECT name FROM sqlite_schema WHERE name = 'plants'"), [])
    assert.deepEqual(query(path, 'SELECT version FROM migrations'), [])
  })

  test('a schema newer than the program is rejected with one line, and not changed', (t) => {
    const path = join(temporaryFolder(t), 'plants.db')
    prepare(path)
    {
      using database = new DatabaseSync(path)
      database.exec("INSERT INTO migrations VALUES (999, '0999-of-the-future', '2040-01-01T00:00:00.000Z')")
    }
    assert.throws(() => prepare(path), /schema version 999, this program supports \d+: use the newer program/)
  })

  test('the program waits while another process prepares a new file', async (t) => {
    const path = join(temporaryFolder(t), 'plants.db')
    // The locks of somebody who reads, and of somebody who writes.
    for (const lock of ['BEGIN; SELECT * FROM sqlite_schema', 'BEGIN EXCLUSIVE']) {
      const locker = new Worker(
        `const { DatabaseSync } = require('node:sqlite')
        const database = new DatabaseSync(${JSON.stringify(path)})
        database.exec('PRAGMA journal_mode = DELETE')
        database.prepare('SELECT * FROM sqlite_schema').all()
        database.exec(${JSON.stringify(lock)})
        require('node:worker_threads').parentPort.postMessage('locked')
        setTimeout(() => { database.exec('COMMIT'); database.close() }, 150)`,
        { eval: true },
      )
      await new Promise((resolve) => locker.once('message', resolve))
      const ended = new Promise((resolve) => locker.once('exit', resolve))
      prepare(path)
      await ended
      assert.deepEqual(query(path, 'PRAGMA journal_mode'), ['wal'])
    }
  })
})

describe('a file that cannot be used', () => {
  test('a file that is not a database is rejected, and not changed', (t) => {
    const path = join(temporaryFolder(t), 'notes.txt')
    const file = openSync(path, 'w')
    writeSync(file, 'Dear diary, today I planted a rose. '.repeat(100))
    closeSync(file)
    assert.throws(() => prepare(path), isPlainLine(path, /not a database/))
  })

  test('the check on start finds a damaged page, and reports it in one line', (t) => {
    const path = join(temporaryFolder(t), 'plants.db')
    prepare(path)
    {
      using database = new DatabaseSync(path)
      const insert = database.prepare('INSERT INTO plants VALUES (?, ?, NULL, 1, 1, 1)')
      inTransaction(database, () => {
        for (let id = 0; id < 300; id++) insert.run(id, 'n'.repeat(2000))
      })
    }
    prepare(path, true)
    const file = openSync(path, 'r+')
    writeSync(file, Buffer.alloc(600, 0x5a), 0, 600, 50 * 4096 + 20)
    closeSync(file)
    assert.throws(() => prepare(path, true), isPlainLine(path, /is damaged: .*page 51/))
    // The check is slow on a large file, so it is optional.
    prepare(path)
  })

  test('a damaged first page is reported in one line without a check', (t) => {
    const path = join(temporaryFolder(t), 'plants.db')
    prepare(path)
    const file = openSync(path, 'r+')
    writeSync(file, Buffer.alloc(600, 0x5a), 0, 600, 100)
    closeSync(file)
    assert.throws(() => prepare(path), isPlainLine(path, /malformed/))
  })
})

describe('failures of statements', () => {
  test('a full disk is 50701, everything else 50302, and the messages do not expose the cause', () => {
    for (const [errcode, code] of [
      [13, 50701],
      [10, 50302],
      [778, 50302],
      [5, 50302],
      [11, 50302],
      [undefined, 50302],
    ] as const) {
      const cause = Object.assign(new Error('disk I/O error at /var/lib/plants.db'), { errcode })
      const error = storageError(cause)
      assert.equal(error.code, code)
      assert.equal(error.cause, cause)
      assert.doesNotMatch(error.message, /disk I\/O|plants\.db/)
    }
  })

  test('a failed transaction stores nothing, and the connection can be used for the next', (t) => {
    const path = join(temporaryFolder(t), 'plants.db')
    prepare(path)
    using database = new DatabaseSync(path)
    const insert = "INSERT INTO plants VALUES (1, 'Rosa', NULL, 1, 1, 1)"
    assert.throws(
      () =>
        inTransaction(database, () => {
          database.exec(insert)
          throw new Error('changed my mind')
        }),
      /changed my mind/,
    )
    assert.equal(
      inTransaction(database, () => database.prepare(insert).run().changes),
      1,
    )
    const rollingBack = insert.replace('INSERT', 'INSERT OR ROLLBACK')
    assert.throws(() => inTransaction(database, () => database.exec(rollingBack)), /UNIQUE/)
    assert.equal(database.isTransaction, false)
  })
})

test('a file that cannot be opened as a store is closed at once', {
  skip: !existsSync('/proc/self/fd'),
}, (t) => {
  const path = join(temporaryFolder(t), 'plants.db')
  writeFileSync(path, 'no database, and longer than the header of one'.repeat(30))
  for (const open of [openReader, openWriter]) assert.throws(() => open(path), /not a database/)
  const opened = readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(join('/proc/self/fd', fd))
    } catch {
      // That of the folder that was read.
      return ''
    }
  })
  assert.ok(!opened.includes(path))
})
