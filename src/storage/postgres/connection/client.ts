import { setTimeout as sleep } from 'node:timers/promises'
import postgres, { type Notice, type Options } from 'postgres'
import { withinTime } from '../../../load/within-time.ts'
import type { ReadOptions } from '../../../plants/plant-store.ts'
import type { Connector } from './connector.ts'
import { codeOf, failureOf, readError, timeoutError, writeError } from './failure.ts'
import { createReadQueues, type ReadKind } from './read-queues.ts'
import type { PostgresTarget } from './url.ts'

/** A transaction that gave way to another one is tried so often, after a pause by chance, longer each time. */
const CONFLICT_TRIES_MAX = 6
const CONFLICT_PAUSE_MS = 5

/** A statement that reached no server is tried so often: by then each of several hosts had its turn. */
const UNSENT_TRIES_MAX = 4
const UNSENT_PAUSE_MS = 50

/**
 * Reads that a connection is given at once: with one alone it would idle while its answer travels, and each has
 * to wait for those before it, which its deadline counts.
 */
const READS_PER_CONNECTION = 4

type TriesMax = Partial<Record<ReturnType<typeof failureOf>, number>>
const WRITE_TRIES_MAX: TriesMax = { conflict: CONFLICT_TRIES_MAX, 'not-sent': UNSENT_TRIES_MAX }
const READ_TRIES_MAX: TriesMax = { ...WRITE_TRIES_MAX, lost: 2 }

/** Statements under way on connections that are given up, or closed at the end, have so long to finish. */
const CLOSE_GRACE_SECONDS = 2

/** The network and the driver have so much longer than the server, which knows better what happened. */
const ANSWER_GRACE_MS = 1_000

/** Of the statements: int64 as bigint. */
const TYPES = { bigint: postgres.BigInt }
export type Sql = postgres.Sql<{ bigint: bigint }>
export type Transaction = postgres.TransactionSql<{ bigint: bigint }>

export interface PostgresClientOptions {
  target: PostgresTarget
  connector: Connector
  /** How many connections at most. */
  connections: number
  connectTimeoutMs: number
  /** How long a statement may take. */
  statementTimeoutMs: number
  /**
   * Whether the server ends it then by itself. Not a write: a server that waits for its standby would give that
   * up, and report a commit that only it knows of.
   */
  serverEndsStatements: boolean
  /** How long a statement may wait for a lock that another session holds. Without: as long as it may take. */
  lockTimeoutMs?: number
  /** Whether statements are prepared, which a pooler between may not allow. */
  prepare: boolean
  /**
   * Whether a connection is kept however old it is, as what is under way on it may take that long; otherwise the
   * driver renews one now and then.
   */
  keepsConnections?: boolean
}

interface QueuedReadOptions extends ReadOptions {
  /** 'row' by default. */
  kind?: ReadKind
}

/** Connections to one database, which come and go by themselves. */
export interface PostgresClient {
  /**
   * Runs a read, again where its connection was lost. Rejects with an AppError: 50302, or 50301 when there are
   * too many reads, or it was queued for as long as a connection may take to open.
   */
  read<Result>(work: (sql: Sql) => Promise<Result>, options?: QueuedReadOptions): Promise<Result>
  /**
   * Runs a write, again where it gave way to another or was never sent. Rejects with an AppError: 50302, whose
   * message says whether it may have been stored, or 50701.
   */
  write<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result>
  close(): Promise<void>
}

export function createPostgresClient(options: PostgresClientOptions): PostgresClient {
  const deadlineMs = options.connectTimeoutMs + options.statementTimeoutMs + ANSWER_GRACE_MS
  const readQueues = createReadQueues({
    slots: options.connections * READS_PER_CONNECTION,
    waitMaxMs: options.connectTimeoutMs,
  })
  /** Commits so far of which the server said that no standby has them. */
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
   * Replaces the connections by new ones. The driver does not recover from a lost one: it holds the error against the
   * next statement, waits for a response that does not come, or sends the rest of its buffer as the start of the next
   * session, which the server then cannot read.
   */
  function renew(used: Sql, closeSeconds: number): void {
    if (sql !== used || isClosed) return
    sql = open()
    void used.end({ timeout: closeSeconds })
  }

  /** Runs the work; when it takes too long its connections are lost as well, as the server may be gone. */
  async function withinDeadline<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> {
    const used = sql
    try {
      return await withinTime(work(used), deadlineMs, () => timeoutError('ANSWER_TIMEOUT'))
    } catch (error) {
      if (failureOf(error) === 'lost') renew(used, CLOSE_GRACE_SECONDS)
      throw error
    }
  }

  async function persistently<Result>(
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
        return await readQueues[kind].run(() => persistently(work, READ_TRIES_MAX), options)
      } catch (error) {
        throw readError(error)
      }
    },
    async write(work) {
      const before = unreplicatedCommits
      try {
        const result = await persistently(work, WRITE_TRIES_MAX)
        // It may have been another write, one that ran at the same time; then this says less than it could.
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
      return sql.end({ timeout: CLOSE_GRACE_SECONDS })
    },
  }
}

/**
 * A connection for a moment, to the primary among the hosts: for what is done once, at the start. Rejects with
 * what the driver says, or with code CONNECT_TIMEOUT.
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
      // The driver would try for ever where each connection is closed before an answer.
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

/** `onLost` is called when a connection was closed, and not by the driver. */
function driverOptions(options: PostgresClientOptions, onLost = () => {}) {
  const { target, connector, connections, connectTimeoutMs, statementTimeoutMs, prepare } = options
  // The types of the driver do not know `socket`.
  const driver: Options<typeof TYPES> & { socket: Connector['connect'] } = {
    // The connector knows better; the driver wants one of each.
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
    // The connector pauses, for all of its clients.
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
 * Whether a commit is not safe or not visible everywhere: the server gave up waiting for its standby, or Citus could
 * not commit on a node yet, which its recovery does later. Citus has no code for it, and does not translate its text.
 */
function isUnreplicated({ code, routine, message }: Notice): boolean {
  if (code !== '01000') return false
  return routine === 'SyncRepWaitForLSN' || message?.startsWith('failed to commit transaction on ') === true
}
