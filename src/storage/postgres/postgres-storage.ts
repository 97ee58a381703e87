import { createCommitLag } from '../commit-lag.ts'
import { createGroupCommit } from '../group-commit.ts'
import { createPlantExporting } from '../plant-export.ts'
import { charactersOf, type PlantWrite, type PlantWriteOutcome } from '../plant-write.ts'
import type { Storage, StorageOptions } from '../storage.ts'
import { answerInTime } from './answer-in-time.ts'
import { commitBatch } from './commit-batch.ts'
import { createPostgresClient } from './postgres-client.ts'
import { createPostgresContents } from './postgres-contents.ts'
import { startKeyPurge } from './postgres-key-purge.ts'
import { isUpToDate, migratePostgres } from './postgres-migrations.ts'
import { createPostgresExportOpening, EXPORTS_MAX } from './postgres-plant-export.ts'
import { createPostgresPlantStore } from './postgres-plant-store.ts'
import { createPostgresTokenStore } from './postgres-token-store.ts'
import { connectionOptions, withDatabase } from './prepare-database.ts'

/**
 * Opens the store in a PostgreSQL database: one connection for the shared commits, a pool for everything else.
 * Any number of processes may do so at once. Throws a SetupError when the database cannot be used.
 */
export async function openPostgresStorage(url: string, options: StorageOptions): Promise<Storage> {
  const connection = connectionOptions(url, options)
  await withDatabase(connection, async (sql) => {
    const look = isUpToDate(sql, options.migrate === 'on')
    if (!(await answerInTime(look, options.postgresConnectTimeoutMs, 'CONNECT_TIMEOUT'))) {
      await migratePostgres(sql, options.postgresStatementTimeoutMs)
    }
  })
  const limited = { ...connection, statementTimeoutMs: options.postgresStatementTimeoutMs }
  const committer = createPostgresClient({ ...limited, connections: 1, serverEndsStatements: false })
  const pool = createPostgresClient({
    ...limited,
    connections: options.postgresConnections,
    serverEndsStatements: true,
  })
  const writes = createGroupCommit<PlantWrite, PlantWriteOutcome>({
    queueMax: options.queuedWritesMax,
    lag: createCommitLag({ lagMaxMs: options.writeLagMaxMs }),
    charactersOf,
    commit: (batch) => committer.write((sql) => commitBatch(sql, batch, options.idempotencyTtlMs)),
  })
  const exporting = createPlantExporting({
    open: createPostgresExportOpening({ ...limited, serverEndsStatements: true }),
    exportsMax: Math.min(EXPORTS_MAX, options.postgresConnections),
  })
  const purge = startKeyPurge(pool, options.idempotencyTtlMs)
  return {
    engine: 'postgres',
    plants: createPostgresPlantStore({ client: pool, writes, exporting, nowMs: options.nowMs ?? Date.now }),
    tokens: createPostgresTokenStore({ committer, pool }),
    contents: createPostgresContents(committer),
    activity: {
      onCommit: writes.onCommit,
      onTrouble() {},
      queuedWrites: writes.queued,
      exportsUnderWay: exporting.underWay,
      unindexedPlants: () => 0,
    },
    isLagging: writes.isLagging,
    async ping() {
      await pool.read((sql) => sql`SELECT 1 FROM migrations LIMIT 1`)
    },
    async close() {
      purge.stop()
      await Promise.all([writes.drain(), exporting.close()])
      await Promise.all([committer.close(), pool.close()])
    },
  }
}
