import { setTimeout as sleep } from 'node:timers/promises'
import postgres, { type Notice, type Options } from 'postgres'
import { withinTime } from '../../../load/within-time.ts'
import type { ReadOptions } from '../../../plants/plant-store.ts'
import type { Connector } from './connector.ts'
import { codeOf, failureOf, readError, timeoutError, writeError } from './failure.ts'
import { createReadQueues, type ReadKind } from './read-queues.ts'
import type { PostgresTarget } from './url.ts'

/** Tries of a transaction that conflicts with another one, after a random pause that doubles each time. */
const CONFLICT_TRIES_MAX = 6
const CONFLICT_PAUSE_MS = 5

/** Tries of a statement that reached no server: enough to try each of several hosts. */
const UNSENT_TRIES_MAX = 4
const UNSENT_PAUSE_MS = 50

/**
 * Reads that are sent on a connection at once: with only one it would idle during each round trip. More would delay
 * each other, and the deadline includes that wait.
 */
const READS_PER_CONNECTION = 4

type TriesMax = Partial<Record<ReturnType<typeof failureOf>, number>>
const WRITE_TRIES_MAX: TriesMax = { conflict: CONFLICT_TRIES_MAX, 'not-sent': UNSENT_TRIES_MAX }
const READ_TRIES_MAX: TriesMax = { ...WRITE_TRIES_MAX, lost: 2 }

/** How long running statements may take to finish when their connections are replaced or closed. */
const CLOSE_TIMEOUT_SECONDS = 2

/** Added to the server's timeout: the error of the server is more precise than a timeout here. */
const RESPONSE_MARGIN_MS = 1_000

/** Reads int64 columns as bigints. */
const TYPES = { bigint: postgres.BigInt }
export type Sql = postgres.Sql<{ bigint: bigint }>
export type Transaction = postgres.TransactionSql<{ bigint: bigint }>

export interface PostgresClientOptions {
  target: PostgresTarget
  connector: Connector
  /** The maximum number of connections. */
  connections: number
  connectTimeoutMs: number
  /** How long a statement may take. */
  statementTimeoutMs: number
  /**
   * Whether the server itself aborts the statement then. Not for writes: a server that waits for its standby would stop
   * waiting and report a commit that the standby lacks.
   */
  serverEndsStatements: boolean
  /** How long a statement may wait for a lock of another session; by default, until its own timeout. */
  lockTimeoutMs?: number
  /** Whether statements are prepared, which a connection pooler may not support. */
  prepare: boolean
  /**
   * Whether a connection stays open however old it is, as an export needs it. By default the driver renews connections
   * from time to time.
   */
  keepsConnections?: boolean
}

interface QueuedReadOptions extends ReadOptions {
  /** 'row' by default. */
  kind?: ReadKind
}

/** A pool of connections to one database. */
export interface PostgresClient {
  /**
   * Runs a read and retries it if its connection was lost. Rejects with an AppError: 50302, or 50301 if too many reads
   * are queued or it was queued for longer than the connect timeout.
   */
  read<Result>(work: (sql: Sql) => Promise<Result>, options?: QueuedReadOptions): Promise<Result>
  /**
   * Runs a write and retries it after a conflict or if it was not sent. Rejects with an AppError: 50701, or 50302 whose
   * details say whether it may have been stored.
   */
  write<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result>
  close(): Promise<void>
}

export function createPostgresClient(options: PostgresClientOptions): PostgresClient {
  const deadlineMs = options.connectTimeoutMs + options.statementTimeoutMs + RESPONSE_MARGIN_MS
  const readQueues = createReadQueues({
    slots: options.connections * READS_PER_CONNECTION,
    waitMaxMs: options.connectTimeoutMs,
  })
  /** Commits so far that the server reported to be on no standby. */
  let unreplicatedCommits = 0
  let isClosed = false
  let sql = open()

  function open(): Sql {
    const opened: Sql = postgres({
      ...driverOptions(options, () => renew(opened, 0)),
      onnotice: (notice) => {
        if (isUnreplicated(notice)) unreplicatedCommits++
      },
    })
    return opened
  }

  /**
   * Replaces the connections by new ones. The driver does not recover from a lost one: it fails the next statement with
   * the old error, waits for a response that never comes, or sends the rest of its buffer at the start of the next
   * session, which the server then cannot parse.
   */
  function renew(used: Sql, closeSeconds: number): void {
    if (sql !== used || isClosed) return
    sql = open()
    void used.end({ timeout: closeSeconds })
  }

  /** Runs the work. A timeout counts as a lost connection, as the server may be down. */
  async function withinDeadline<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> {
    const used = sql
    try {
      return await withinTime(work(used), deadlineMs, () => timeoutError('RESPONSE_TIMEOUT'))
    } catch (error) {
      if (failureOf(error) === 'lost') renew(used, CLOSE_TIMEOUT_SECONDS)
      throw error
    }
  }

  async function withRetries<Result>(
    work: (sql: Sql) => Promise<Result>,
    triesMax: TriesMax,
  ): Promise<Result> {
    for (let tries = 1; ; tries++) {
      try {
        return await withinDeadline(work)
      } catch (error) {
        const failure = failureOf(error)
        if (tries >= (triesMax[failure] ?? 1)) throw error
        const pauseMs = failure === 'conflict' ? CONFLICT_PAUSE_MS * 2 ** tries : UNSENT_PAUSE_MS * tries
        await sleep(Math.random() * pauseMs)
      }
    }
  }

  return {
    async read(work, { kind = 'row', ...options } = {}) {
      try {
        return await readQueues[kind].run(() => withRetries(work, READ_TRIES_MAX), options)
      } catch (error) {
        throw readError(error)
      }
    },
    async write(work) {
      const before = unreplicatedCommits
      try {
        const result = await withRetries(work, WRITE_TRIES_MAX)
        // A concurrent write may have caused it; then this outcome is reported as unknown without need.
        if (unreplicatedCommits > before) {
          throw Object.assign(new Error('committed on no standby'), { code: 'UNREPLICATED' })
        }
        return result
      } catch (error) {
        throw writeError(error)
      }
    },
    close() {
      isClosed = true
      return sql.end({ timeout: CLOSE_TIMEOUT_SECONDS })
    },
  }
}

/**
 * Runs work on a connection of its own to the primary among the hosts, for setup at the start. Rejects with the error
 * of the driver or with code CONNECT_TIMEOUT.
 */
export async function withSingleConnection<Result>(
  options: Omit<PostgresClientOptions, 'connections' | 'statementTimeoutMs' | 'serverEndsStatements'>,
  work: (sql: Sql) => Promise<Result>,
): Promise<Result> {
  const connect = () =>
    postgres({
      ...driverOptions({ ...options, connections: 1, statementTimeoutMs: 0, serverEndsStatements: false }),
      onnotice: () => {},
    })
  // Each host may turn out to be a standby.
  for (let tries = 1; ; tries++) {
    const sql = connect()
    try {
      // The driver would retry for ever if each connection is closed before a response.
      const timeoutMs = options.connectTimeoutMs * options.target.hosts.length
      await withinTime(sql`SELECT 1`, timeoutMs, () => timeoutError('CONNECT_TIMEOUT'))
      return await work(sql)
    } catch (error) {
      if (codeOf(error) !== 'STANDBY' || tries >= options.target.hosts.length) throw error
    } finally {
      await sql.end({ timeout: 1 })
    }
  }
}

/** `onLost` is called when a connection was closed by the other side. */
function driverOptions(options: PostgresClientOptions, onLost = () => {}) {
  const { target, connector, connections, connectTimeoutMs, statementTimeoutMs, prepare } = options
  // The types of the driver lack `socket`.
  const driver: Options<typeof TYPES> & { socket: Connector['connect'] } = {
    // Ignored by the connector, but the driver requires them.
    host: 'postgres',
    port: 5432,
    database: target.database,
    user: target.user,
    pass: target.password,
    async socket() {
      const connection = await connector.connect()
      return connection.once('close', () => {
        if (!connection.writableEnded) onLost()
      })
    },
    ssl: false,
    max: connections,
    connect_timeout: connectTimeoutMs / 1000,
    // The connector pauses before a reconnect, for all of its clients.
    backoff: () => 0,
    prepare,
    fetch_types: false,
    types: TYPES,
    connection: {
      application_name: target.applicationName,
      ...(options.serverEndsStatements && { statement_timeout: statementTimeoutMs }),
      ...(options.lockTimeoutMs !== undefined && { lock_timeout: options.lockTimeoutMs }),
    },
    ...(options.keepsConnections && { max_lifetime: null }),
  }
  return driver
}

/**
 * Whether a commit is not safe or not visible everywhere. Either the server stopped waiting for its standby, or Citus
 * could not commit on a node, which its recovery does later. Citus has no code for that and does not translate the
 * text.
 */
function isUnreplicated({ code, routine, message }: Notice): boolean {
  if (code !== '01000') return false
  return routine === 'SyncRepWaitForLSN' || message?.startsWith('failed to commit transaction on ') === true
}
