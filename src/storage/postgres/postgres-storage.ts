import { SetupError } from '../../errors.ts'
import { createGroupCommit } from '../group-commit.ts'
import { charactersOf, type PlantWrite, type PlantWriteOutcome } from '../plant-write.ts'
import type { Storage, StorageOptions } from '../storage.ts'
import { answerInTime } from './answer-in-time.ts'
import { commitBatch } from './commit-batch.ts'
import { createPostgresClient, type Sql, withSingleConnection } from './postgres-client.ts'
import { createConnector } from './postgres-connector.ts'
import { createPostgresContents } from './postgres-contents.ts'
import { codeOf } from './postgres-failure.ts'
import { startKeyPurge } from './postgres-key-purge.ts'
import { isUpToDate, migratePostgres } from './postgres-migrations.ts'
import { createPostgresPlantStore } from './postgres-plant-store.ts'
import { createPostgresTokenStore } from './postgres-token-store.ts'
import { describeTarget, type PostgresTarget, parsePostgresUrl } from './postgres-url.ts'

/** The oldest server that this is tested with. */
const SERVER_VERSION_MIN = 15

/**
 * Opens the store in a PostgreSQL database: one connection for the shared commits, a pool for everything else.
 * Any number of processes may do so at once. Throws a SetupError when the database cannot be used.
 */
export async function openPostgresStorage(url: string, options: StorageOptions): Promise<Storage> {
  const target = parsePostgresUrl(url)
  const common = {
    target,
    connector: createConnector(target, options.postgresConnectTimeoutMs),
    connectTimeoutMs: options.postgresConnectTimeoutMs,
    prepare: options.postgresPrepare,
  }
  try {
    await withSingleConnection(common, async (sql) => {
      const inTime = <Answer>(answer: Promise<Answer>) =>
        answerInTime(answer, options.postgresConnectTimeoutMs, 'CONNECT_TIMEOUT')
      await inTime(checkServer(sql))
      // A migration itself takes as long as it takes.
      if (!(await inTime(isUpToDate(sql, options.migrate === 'on')))) await migratePostgres(sql)
    })
  } catch (error) {
    if (error instanceof SetupError) throw error
    throw new SetupError(
      `The database ${describeTarget(target)} cannot be opened: ${reasonOf(error, target)}.`,
    )
  }
  const limited = { ...common, statementTimeoutMs: options.postgresStatementTimeoutMs }
  const committer = createPostgresClient({ ...limited, connections: 1, serverEndsStatements: false })
  const pool = createPostgresClient({
    ...limited,
    connections: options.postgresConnections,
    serverEndsStatements: true,
  })
  const writes = createGroupCommit<PlantWrite, PlantWriteOutcome>({
    queueMax: options.queuedWritesMax,
    charactersOf,
    commit: (batch) => committer.write((sql) => commitBatch(sql, batch, options.idempotencyTtlMs)),
  })
  const purge = startKeyPurge(pool, options.idempotencyTtlMs)
  return {
    plants: createPostgresPlantStore({ client: pool, writes, nowMs: options.nowMs ?? Date.now }),
    tokens: createPostgresTokenStore({ committer, pool }),
    contents: createPostgresContents(committer),
    async ping() {
      await pool.read((sql) => sql`SELECT 1 FROM migrations LIMIT 1`)
    },
    async close() {
      purge.stop()
      await writes.drain()
      await Promise.all([committer.close(), pool.close()])
    },
  }
}

async function checkServer(sql: Sql): Promise<void> {
  const [{ encoding, version } = { encoding: '', version: 0 }] = await sql<
    { encoding: string; version: number }[]
  >`SELECT current_setting('server_encoding') AS encoding, current_setting('server_version_num')::integer AS version`
  if (encoding !== 'UTF8') {
    throw new SetupError(`The database is encoded in ${encoding}: names of plants need one in UTF8.`)
  }
  if (version < SERVER_VERSION_MIN * 10_000) {
    throw new SetupError(
      `The server has version ${Math.floor(version / 10_000)} of PostgreSQL: ${SERVER_VERSION_MIN} is the oldest that works.`,
    )
  }
}

/** Why the database cannot be opened, in words that name what to mend and hold no password. */
function reasonOf(error: unknown, { user, database }: PostgresTarget): string {
  const code = codeOf(error)
  switch (code) {
    case 'ECONNREFUSED':
      return 'nothing listens there'
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'its host has no address'
    case 'CONNECT_TIMEOUT':
      return 'it did not answer in time'
    case 'STANDBY':
      return 'it is a standby, which stores nothing'
    case '28P01':
    case '28000':
      return `it does not let ${user} in: check user and password`
    case '3D000':
      return `there is no database ${database}`
    case '42501':
      return `${user} may not do what a migration needs (${String((error as Error).message)})`
    default:
      return String((error as Error).message)
  }
}
