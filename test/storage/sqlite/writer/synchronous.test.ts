import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { openWriter, prepareFile } from '../../../../src/storage/sqlite/connection/open-connection.ts'
import { createKeyPurge } from '../../../../src/storage/sqlite/writer/key-purge.ts'
import { createSearchIndexer } from '../../../../src/storage/sqlite/writer/search-indexer.ts'
import { temporaryFolder } from '../temporary-storage.ts'

/** What `PRAGMA synchronous` returns: only FULL makes a commit in WAL mode wait for the disk. */
const FULL = 2

function openStore(t: TestContext): { path: string; database: DatabaseSync } {
  const path = join(temporaryFolder(t), 'plants.db')
  prepareFile(path, { checkOnStart: false })
  const database = openWriter(path)
  t.after(() => database.close())
  // Another process holds the lock in a test; none waits for it.
  database.exec('PRAGMA busy_timeout = 0')
  return { path, database }
}

const synchronousOf = (database: DatabaseSync) => database.prepare('PRAGMA synchronous').get()?.synchronous

test('the writing connection syncs each commit from the first one on', (t) => {
  assert.equal(synchronousOf(openStore(t).database), FULL)
})

test('the writing connection syncs each commit after background work without syncs, and after its failure', (t) => {
  const { path, database } = openStore(t)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  /** Indexes and purges once, and returns how many warnings that gave. */
  const workInBackground = (): number => {
    let warnings = 0
    const indexer = createSearchIndexer(database, () => warnings++)
    const purge = createKeyPurge(database, 60_000, () => warnings++)
    t.mock.timers.tick(5_000)
    indexer.stop()
    purge.stop()
    return warnings
  }
  assert.equal(workInBackground(), 0)
  assert.equal(synchronousOf(database), FULL)
  using other = new DatabaseSync(path)
  other.exec('BEGIN IMMEDIATE')
  assert.equal(workInBackground(), 2)
  assert.equal(synchronousOf(database), FULL)
})
