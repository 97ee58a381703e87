import { withinTime } from '../../load/within-time.ts'
import { createCommitLag } from '../batching/commit-lag.ts'
import { createGroupCommit } from '../batching/group-commit.ts'
import { charactersOf, type PlantWrite, type PlantWriteOutcome } from '../batching/plant-write.ts'
import { createPlantExporting } from '../plant-export.ts'
import type { Storage, StorageOptions } from '../storage.ts'
import { createCommitAroundLocks } from './commit/commit-around-locks.ts'
import { commitBatch } from './commit/commit-batch.ts'
import { createPostgresClient } from './connection/client.ts'
import { startDatabaseClock } from './connection/database-clock.ts'
import { timeoutError } from './connection/failure.ts'
import { startKeyPurge } from './key-purge.ts'
import { createPostgresExportOpening, EXPORTS_MAX } from './plant-export.ts'
import { createPostgresPlantStore } from './plant-store.ts'
import { isUpToDate, migratePostgres } from './schema/migrations.ts'
import { connectionOptions, withDatabase } from './schema/prepare-database.ts'
import { arePlantsSharded } from './schema/shard-tables.ts'
import { createPostgresDump } from './storage-dump.ts'
import { createPostgresTokenStore } from './token-store.ts'

/** All writes wait for a commit that waits for a lock. Longer than the server takes to find a deadlock: a second. */
const LOCK_TIMEOUT_MS = 2_000

/**
 * Opens a PostgreSQL database: one connection for the commits, a pool for everything else. Several processes may use
 * the same database. Throws a SetupError if it cannot be used.
 */
export async function openPostgresStorage(url: string, options: StorageOptions): Promise<Storage> {
  const connection = connectionOptions(url, options)
  const isSharded = await withDatabase(connection, async (sql) => {
    const upToDate = isUpToDate(sql, options.migrate)
    const timeout = () => timeoutError('CONNECT_TIMEOUT')
    if (!(await withinTime(upToDate, options.postgresConnectTimeoutMs, timeout))) {
      await migratePostgres(sql, options)
    }
    return arePlantsSharded(sql)
  })
  const { idempotencyTtlMs } = options
  const limited = { ...connection, statementTimeoutMs: options.postgresStatementTimeoutMs }
  const committer = createPostgresClient({
    ...limited,
    connections: 1,
    serverEndsStatements: false,
    lockTimeoutMs: LOCK_TIMEOUT_MS,
  })
  const pool = createPostgresClient({
    ...limited,
    connections: options.postgresConnections,
    serverEndsStatements: true,
  })
  const writes = createGroupCommit<PlantWrite, PlantWriteOutcome>({
    queueMax: options.queuedWritesMax,
    lag: createCommitLag({ lagMaxMs: options.writeLagMaxMs }),
    charactersOf,
    commit: createCommitAroundLocks((batch, lockTimeoutMs) =>
      committer.write((sql) => commitBatch(sql, batch, { idempotencyTtlMs, isSharded, lockTimeoutMs })),
    ),
  })
  const exporting = createPlantExporting({
    open: createPostgresExportOpening({ ...limited, serverEndsStatements: true }),
    exportsMax: Math.min(EXPORTS_MAX, options.postgresConnections),
  })
  const clock = await startDatabaseClock(pool).catch(async (error: unknown) => {
    await Promise.all([committer.close(), pool.close()])
    throw error
  })
  const nowMs = options.nowMs ?? clock.nowMs
  const purge = startKeyPurge(pool, { idempotencyTtlMs, nowMs })
  return {
    engine: 'postgres',
    plants: createPostgresPlantStore({ client: pool, writes, exporting, nowMs }),
    tokens: createPostgresTokenStore({ committer, pool, isSharded, nowMs }),
    dump: createPostgresDump(committer),
    activity: {
      onCommit: writes.onCommit,
      onWarning() {},
      filesMoved: () => false,
      queuedWrites: writes.queued,
      runningExports: exporting.running,
      unindexedPlants: () => 0,
    },
    isLagging: writes.isLagging,
    async ping() {
      await pool.read((sql) => sql`SELECT 1 FROM migrations LIMIT 1`)
    },
    async close() {
      purge.stop()
      clock.stop()
      await Promise.all([writes.drain(), exporting.close()])
      await Promise.all([committer.close(), pool.close()])
    },
  }
}
