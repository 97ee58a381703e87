import { workerData } from 'node:worker_threads'
import { openWriter } from '../connection/sqlite-connection.ts'
import { say, serveThread } from '../threads/thread.ts'
import type { Write, WriteBatch, WriteOutcome, WriteReply } from '../threads/write-batch.ts'
import { createImportStep } from './import-writes.ts'
import { createKeyPurge } from './key-purge.ts'
import { createKeyWrites } from './key-writes.ts'
import { createPlantWrites } from './plant-writes.ts'
import { createSearchIndexer } from './search-indexer.ts'
import { createTokenWrites } from './token-writes.ts'
import { createUnindexedPlants } from './unindexed-plants.ts'

// The thread that owns the writing connection: every write of this process passes here, a batch a
// transaction.

export interface WriterOptions {
  path: string
  idempotencyTtlMs: number
}

const { path, idempotencyTtlMs } = workerData as WriterOptions
const database = openWriter(path)
const unindexed = createUnindexedPlants(database)
const plants = createPlantWrites(database, unindexed, idempotencyTtlMs)
const importStep = createImportStep(database, unindexed)
const tokens = createTokenWrites(database)
const keys = createKeyWrites(database)
const indexer = createSearchIndexer(database, say)
const keyPurge = createKeyPurge(database, idempotencyTtlMs, say)

function commitBatch(batch: WriteBatch): WriteReply {
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
        const id = batch.ids[at] as bigint
        const name = batch.names[at] as string
        const tag = batch.tags[at] as string | null
        const atMs = batch.times[at] as number
        created[at] = plants.insert(id, name, tag, atMs, batch.versions[at] as number) ? 1 : 0
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
  return { created, others }
}

function perform(write: Write): WriteOutcome {
  switch (write.kind) {
    case 'create':
      return plants.create(write)
    case 'replace':
      return plants.replace(write)
    case 'update':
      return plants.update(write)
    case 'delete':
      return plants.remove(write)
    case 'import':
      return importStep(write)
    case 'add-plants':
      for (const { id, name, tag = null, createdAtMs, version, updatedAtMs } of write.plants) {
        plants.insert(id, name, tag, createdAtMs, version, updatedAtMs)
      }
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
    case 'note-token-use':
      tokens.recordUse(write.id, write.atMs)
      return { outcome: 'done' }
  }
}

serveThread<WriteBatch, WriteReply>(commitBatch, () => {
  keyPurge.stop()
  indexer.stop()
  try {
    // Leaves one file behind where it can; a reader elsewhere may keep the log, which is no harm.
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch {
    // On a full disk the log stays: it holds what was committed, and the next start puts it back.
  }
  database.close()
})
