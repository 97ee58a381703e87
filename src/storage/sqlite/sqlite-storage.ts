import { setFlagsFromString } from 'node:v8'
import { SetupError } from '../../errors.ts'
import { createCommitLag } from '../batching/commit-lag.ts'
import { createGroupCommit } from '../batching/group-commit.ts'
import { createPlantExporting } from '../plant-export.ts'
import type { Storage, StorageOptions } from '../storage.ts'
import { fileReason } from './connection/failure.ts'
import { prepareFile } from './connection/open-connection.ts'
import { createSqliteExportOpening } from './plant-export.ts'
import { createSqlitePlantStore } from './plant-store.ts'
import { createReader } from './reader.ts'
import type { SearcherOptions, SearchReply, SearchRequest } from './searcher/searcher.ts'
import { createSearches } from './searches.ts'
import { createSqliteDump } from './storage-dump.ts'
import { startThread } from './threads/thread.ts'
import {
  charactersOf,
  createBatchCommits,
  type Write,
  type WriteBatch,
  type WriteOutcome,
  type WriteReply,
} from './threads/write-batch.ts'
import { createSqliteTokenStore } from './token-store.ts'
import type { WriterOptions } from './writer/writer.ts'

/** Exports at once: each has a connection with a cache and a snapshot, during which the log grows with every write. */
const EXPORTS_MAX = 4

/**
 * How much the heap may grow between two collections of old objects. Node's fourfold growth takes 20 to 40 MB more. Not
 * set on PostgreSQL: writes wait longer there, and it would cost a twentieth of the creates.
 */
const HEAP_GROWTH_PERCENT = 50

/**
 * Opens the database file at `path` and creates it if it is missing. One thread writes, one runs long reads; short ones
 * use a connection of the main thread. Throws a SetupError if the file cannot be used.
 */
export async function openSqliteStorage(path: string, options: StorageOptions): Promise<Storage> {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH_PERCENT}`)
  prepareFile(path, options)
  const { nowMs = Date.now } = options
  const moved = new Int32Array(new SharedArrayBuffer(4))
  const filesMoved = () => Atomics.load(moved, 0) === 1
  const [writer, searcher] = await startThreads(path, options, moved)
  const batches = createBatchCommits(writer)
  const reader = createReader(path, batches.commits)
  const writes = createGroupCommit<Write, WriteOutcome>({
    queueMax: options.queuedWritesMax,
    lag: createCommitLag({ lagMaxMs: options.writeLagMaxMs }),
    charactersOf,
    commit: batches.commit,
  })
  const exporting = createPlantExporting({
    open: createSqliteExportOpening(searcher, filesMoved),
    exportsMax: EXPORTS_MAX,
  })
  const searches = createSearches(searcher)
  const ping = reader.prepare('SELECT count(*) FROM migrations')
  // SQLite knows the length of a blob without reading it.
  const countUnindexed = reader.prepare(
    'SELECT total(length(plant_ids)) / 8 AS plants FROM unindexed_batches',
  )
  return {
    engine: 'sqlite',
    plants: createSqlitePlantStore({ reader, searches, writes, exporting, nowMs }),
    tokens: createSqliteTokenStore(reader, writes, nowMs),
    dump: createSqliteDump(reader, writes),
    activity: {
      onCommit: writes.onCommit,
      onWarning: writer.onWarning,
      filesMoved,
      queuedWrites: writes.queued,
      runningExports: exporting.running,
      unindexedPlants: () => reader.read(() => Number(countUnindexed.get()?.plants)),
    },
    isLagging: writes.isLagging,
    async ping() {
      ping.get()
    },
    async close() {
      searches.close()
      // The searcher first: a request to close an export would wait for the searches in the thread.
      await Promise.all([searcher.close(), exporting.close(), writes.drain()])
      reader.close()
      // The writer last: the last connection to close checkpoints the log.
      await writer.close()
    },
  }
}

/** Starts the writer and searcher threads. If one fails, closes the other and throws a SetupError. */
async function startThreads(path: string, { idempotencyTtlMs }: StorageOptions, filesMoved: Int32Array) {
  const writerOptions: WriterOptions = { path, idempotencyTtlMs, filesMoved }
  const searcherOptions: SearcherOptions = { path }
  const starting = [
    startThread<WriteBatch, WriteReply>('writer', writerOptions),
    startThread<SearchRequest, SearchReply>('searcher', searcherOptions),
  ] as const
  try {
    return await Promise.all(starting)
  } catch (error) {
    const started = await Promise.allSettled(starting)
    await Promise.all(started.map((one) => one.status === 'fulfilled' && one.value.close()))
    throw new SetupError(`The database ${path} cannot be opened: ${fileReason(error)}`, { cause: error })
  }
}
