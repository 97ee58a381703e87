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

/**
 * Exports at once: each has a connection with a cache, and holds a snapshot, while which the log cannot begin
 * anew and grows with every write.
 */
const EXPORTS_MAX = 4

/**
 * How much the heap may grow between two collections of old objects. Node lets it grow fourfold, to what a
 * store on its own machine need not take: 20 to 40 MB. (On PostgreSQL, where a write waits longer, it costs a
 * twentieth of the creates.)
 */
const HEAP_GROWTH_PERCENT = 50

/**
 * Opens the store in the file `path`, which is made when missing: one thread that writes, one for long reads,
 * and a connection of its own for short ones. Throws a SetupError when the file cannot be used.
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
  // The length of a blob is told without reading it.
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
      onTrouble: writer.onWarning,
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
      // The searcher at once: what ends an export would wait for the searches in the thread.
      await Promise.all([searcher.close(), exporting.close(), writes.drain()])
      reader.close()
      // The writer last: the connection that closes last can put the log back into the file.
      await writer.close()
    },
  }
}

/** The threads that write and search. Throws a SetupError where one cannot begin, and neither is left then. */
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
