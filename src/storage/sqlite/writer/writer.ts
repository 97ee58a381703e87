import { workerData } from 'node:worker_threads'
import { openWriter } from '../connection/open-connection.ts'
import { serveThread, warn } from '../threads/thread.ts'
import type { Write, WriteBatch, WriteOutcome, WriteReply } from '../threads/write-batch.ts'
import { createFileWatch } from './file-watch.ts'
import { createImportChunkWriting } from './import-writes.ts'
import { createKeyPurge } from './key-purge.ts'
import { createKeyWrites } from './key-writes.ts'
import { createPlantWrites } from './plant-writes.ts'
import { createSearchIndexer } from './search-indexer.ts'
import { createStoredRows } from './stored-rows.ts'
import { createTokenWrites } from './token-writes.ts'
import { createUnindexedPlants } from './unindexed-plants.ts'

// The thread with the only connection that writes: it commits every write of this process, in one transaction for each
// batch.

export interface WriterOptions {
  path: string
  idempotencyTtlMs: number
  /** Shared: 1 while the files of the database are moved. */
  filesMoved: Int32Array
}

const { path, idempotencyTtlMs, filesMoved } = workerData as WriterOptions
const database = openWriter(path)
const unindexed = createUnindexedPlants(database)
const rows = createStoredRows(database, unindexed)
const writePlant = createPlantWrites(database, rows, idempotencyTtlMs)
const importChunk = createImportChunkWriting(rows)
const tokens = createTokenWrites(database)
const keys = createKeyWrites(database)
const indexer = createSearchIndexer(database, warn)
const keyPurge = createKeyPurge(database, idempotencyTtlMs, warn)
const files = createFileWatch({ database, path, filesMoved, warn })

function commitBatch(batch: WriteBatch): WriteReply {
  if (files.stillMoved()) return { moved: 'none' }
  const created = new Uint8Array(batch.ids.length)
  const others = new Map<number, WriteOutcome>()
  const startMs = performance.now()
  try {
    database.exec('BEGIN IMMEDIATE')
    unindexed.begin()
    for (let at = 0; at < created.length; at++) {
      const other = batch.others.get(at)
      if (other !== undefined) {
        others.set(at, perform(other))
      } else {
        // A plain create needs no plan: the insert fails if the id is taken.
        created[at] = rows.insertAt(at, batch, batch.times[at] as number) ? 1 : 0
      }
    }
    unindexed.store()
    database.exec('COMMIT')
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK')
    const { errcode, message } = error as { errcode?: number; message: string }
    return { failure: { errcode, message } }
  }
  indexer.recordWrites(performance.now() - startMs)
  // After the commit: before it, the files could still be moved in time for an acknowledgement.
  if (files.movedMeanwhile()) return { moved: 'unknown' }
  return { created, others }
}

function perform(write: Write): WriteOutcome {
  switch (write.kind) {
    case 'create':
    case 'replace':
    case 'update':
    case 'delete':
      return writePlant(write)
    case 'import':
      return importChunk(write)
    case 'add-plants':
      for (const plant of write.plants) rows.insert(plant)
      return { outcome: 'done' }
    case 'add-keys':
      keys.add(write.keys)
      return { outcome: 'done' }
    case 'add-token':
      tokens.add(write)
      return { outcome: 'done' }
    case 'create-token':
      return { outcome: tokens.create(write.token, write.hash) ? 'done' : 'taken' }
    case 'create-first-token':
      return { outcome: tokens.createFirst(write.token, write.hash) ? 'done' : 'taken' }
    case 'rotate-token':
      return { outcome: tokens.rotate(write.id, write.hash, write.graceEndsAtMs) ? 'done' : 'absent' }
    case 'revoke-token':
      return { outcome: tokens.revoke(write.id) ? 'done' : 'absent' }
    case 'record-token-use':
      tokens.recordUse(write.id, write.atMs)
      return { outcome: 'done' }
  }
}

serveThread<WriteBatch, WriteReply>(commitBatch, () => {
  files.stop()
  keyPurge.stop()
  indexer.stop()
  try {
    // Leaves one file, unless a reader of another process still needs the log.
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch {
    // On a full disk the log stays with its commits; the next start checkpoints it.
  }
  database.close()
})
