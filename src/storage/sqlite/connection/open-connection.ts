import { closeSync, constants, existsSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { SetupError } from '../../../errors.ts'
import { followLinks } from '../../follow-links.ts'
import { makeFolder } from '../../make-folder.ts'
import { type Migration, missingMigrations, readMigrations, reportMigrations } from '../../migrate.ts'
import type { StorageOptions } from '../../storage.ts'
import { fileReason, resultCodeOf, SQLITE_BUSY } from './failure.ts'
import { inTransaction } from './in-transaction.ts'
import { CREATE_MIGRATIONS, MIGRATIONS_FOLDER } from './schema.ts'
import { rejectLinkedSideFiles } from './side-files.ts'

/** How long a statement waits for another process that is writing to the file. */
const BUSY_TIMEOUT_MS = 5_000

/** The pause before the switch of a new file to WAL is retried while another process does the same. */
const WAL_RETRY_MS = 10

/**
 * Pages of 4 KiB in the write-ahead log after which it is checkpointed. This is less often than SQLite's 1,000, which
 * halves the tail latency.
 */
const CHECKPOINT_PAGES = 8_000

/**
 * The size to which the log is truncated after a checkpoint. It is larger only after a long read, such as an export.
 */
const LOG_BYTES_MAX = 64 * 1024 * 1024

/** The caches of a connection are small, as the operating system caches the file, too. */
const WRITER_CACHE_KIB = 8 * 1024
const READER_CACHE_KIB = 4 * 1024

/** Opens the file for reading. A read sees everything that was committed before it starts. */
export function openReader(path: string): DatabaseSync {
  return openSetUp(path, true, (database) => database.exec(`PRAGMA cache_size = -${READER_CACHE_KIB}`))
}

/** Opens a file of unknown origin for reading, as https://sqlite.org/security.html recommends for such files. */
export function openForeign(path: string): DatabaseSync {
  const database = openReader(path)
  database.exec('PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0')
  return database
}

/** Opens the file for writing: a commit returns when the data is on disk (WAL, synchronous = FULL). */
export function openWriter(path: string): DatabaseSync {
  return openSetUp(path, false, (database) => {
    switchToWal(database)
    database.exec(`
      PRAGMA synchronous = FULL;
      PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES};
      PRAGMA journal_size_limit = ${LOG_BYTES_MAX};
      PRAGMA cache_size = -${WRITER_CACHE_KIB};
    `)
  })
}

function openSetUp(path: string, readOnly: boolean, setUp: (database: DatabaseSync) => void): DatabaseSync {
  rejectLinkedSideFiles(path)
  const database = new DatabaseSync(path, { readOnly, timeout: BUSY_TIMEOUT_MS })
  try {
    // The schema of a file may call no function that has effects.
    database.exec('PRAGMA trusted_schema = OFF')
    setUp(database)
    return database
  } catch (error) {
    // Otherwise the file would stay open, and locked, until garbage collection.
    database.close()
    throw error
  }
}

/**
 * Creates the file and its folder if they are missing, readable by their owner only, and migrates the schema. Throws a
 * SetupError with the reason in one line.
 */
export function prepareFile(
  path: string,
  options: Pick<StorageOptions, 'checkOnStart' | 'mustExistAt' | 'onMigrated'>,
): void {
  if (options.mustExistAt !== undefined && !existsSync(path)) {
    throw new SetupError(
      `There is no database at ${path}: name it with ${options.mustExistAt}, or start the service first.`,
    )
  }
  let database: DatabaseSync | undefined
  try {
    makeFolder(dirname(path))
    createIfMissing(path)
    database = openWriter(path)
    if (options.checkOnStart) checkFile(database, path)
    migrate(database, options.onMigrated)
  } catch (error) {
    if (error instanceof SetupError) throw error
    throw new SetupError(`The database ${path} cannot be opened: ${fileReason(error)}`, { cause: error })
  } finally {
    database?.close()
  }
}

/** Creates the file for its owner alone if there is none, and throws if it cannot be written. */
function createIfMissing(path: string): void {
  const target = followLinks(path)
  try {
    // A link that is put here meanwhile must not decide where the file is created.
    closeSync(openSync(target, 'wx', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    closeSync(openSync(target, constants.O_WRONLY | constants.O_APPEND))
  }
}

/** A new file is not in WAL mode. SQLite does not wait for the lock that the switch needs, so this retries. */
function switchToWal(database: DatabaseSync): void {
  const deadline = performance.now() + BUSY_TIMEOUT_MS
  for (;;) {
    try {
      database.exec('PRAGMA journal_mode = WAL')
      return
    } catch (error) {
      if (resultCodeOf(error) !== SQLITE_BUSY || performance.now() > deadline) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAL_RETRY_MS)
    }
  }
}

function checkFile(database: DatabaseSync, path: string): void {
  const finding = database.prepare('PRAGMA quick_check(1)').get()?.quick_check
  if (finding !== 'ok') {
    throw new SetupError(`The database ${path} is damaged: ${String(finding).replaceAll('\n', ' ')}`)
  }
}

function migrate(database: DatabaseSync, onMigrated: StorageOptions['onMigrated']): void {
  const startMs = performance.now()
  inTransaction(database, () => database.exec(CREATE_MIGRATIONS))
  const applied = database.prepare('SELECT version FROM migrations').all()
  const versions = applied.map((row) => Number(row.version))
  const missing = missingMigrations(versions, readMigrations(MIGRATIONS_FOLDER))
  const done = missing.filter((migration) =>
    inTransaction(database, () => applyMigration(database, migration)),
  )
  reportMigrations({ versions, done, startMs }, onMigrated)
}

/** Applies the migration; false if another process applied it while this one waited for the lock. */
function applyMigration(database: DatabaseSync, { version, name, sql }: Migration): boolean {
  if (database.prepare('SELECT 1 FROM migrations WHERE version = ?').get(version) !== undefined) return false
  database.exec(sql)
  database
    .prepare('INSERT INTO migrations (version, name, applied_at) VALUES (?, ?, ?)')
    .run(version, name, new Date().toISOString())
  return true
}
