import type { StoredPlant } from '../plants/plant.ts'
import type { PlantStore } from '../plants/plant-store.ts'
import type { StoredToken } from '../tokens/token.ts'
import type { TokenStore } from '../tokens/token-store.ts'
import type { CommitReport } from './batching/group-commit.ts'

/** Reads and writes everything that outlives the process. */
export interface Storage {
  /** The engine of the database: a SQLite file or a PostgreSQL server. */
  engine: 'sqlite' | 'postgres'
  plants: PlantStore
  tokens: TokenStore
  dump: StorageDump
  activity: StorageActivity
  /** Whether a new write would wait too long for its commit. */
  isLagging(): boolean
  /** Rejects if the database does not respond. */
  ping(): Promise<void>
  /** Finishes the running writes and releases the database. */
  close(): Promise<void>
}

/** The current work of a storage, for metrics, health and logs. */
export interface StorageActivity {
  /** Calls `listener` after every shared commit from now on. The listener must not throw. */
  onCommit(listener: (commit: CommitReport) => void): void
  /**
   * Calls `listener` with each failure of background work and its reason, such as a damaged search index; once until it
   * succeeds again. The listener must not throw.
   */
  onWarning(listener: (warning: string) => void): void
  /**
   * Whether the files of the open database are moved, removed or replaced. Writes and exports are then rejected with
   * 50302; other reads come from the open files. False if the database is not a file.
   */
  filesMoved(): boolean
  /** Writes that wait for a commit. */
  queuedWrites(): number
  /** Running exports. */
  runningExports(): number
  /**
   * Plants that a search may not find yet, counted once for each of their writes; 0 if the engine indexes names with
   * the plants. Throws like a read.
   */
  unindexedPlants(): number
}

/** A stored token with its hash. `previous` is the secret that a rotation replaced, valid until `expiresAtMs`. */
export interface HashedToken {
  token: StoredToken
  hash: string
  previous?: { hash: string; expiresAtMs: number }
}

/** A stored idempotency key, with the version of the plant that its create stored. */
export interface StoredIdempotencyKey {
  caller: string
  key: string
  fingerprint: string
  plantVersion: number
  createdAtMs: number
}

/** Raw reads and writes for copying one storage to another (`copy-storage.ts`). */
export interface StorageDump {
  tokens(): Promise<HashedToken[]>
  /** Adds plants with their times and versions; skips those whose id is taken. Durable. */
  addPlants(plants: readonly StoredPlant[]): Promise<void>
  /** Adds tokens; skips those that exist. Durable. */
  addTokens(tokens: readonly HashedToken[]): Promise<void>
  /** Up to `limit` idempotency keys in a stable order: the first ones, or those after a key. */
  keys(limit: number, after?: Pick<StoredIdempotencyKey, 'caller' | 'key'>): Promise<StoredIdempotencyKey[]>
  /** Adds idempotency keys; skips those that exist. Durable. */
  addKeys(keys: readonly StoredIdempotencyKey[]): Promise<void>
}

export interface SchemaMigration {
  /** The newest version before. */
  from: number
  /** The newest version after. */
  to: number
  durationMs: number
}

export interface StorageOptions {
  /** How long an idempotency key is valid. */
  idempotencyTtlMs: number
  /** Writes that may wait for a commit; one more is rejected with 50301. */
  queuedWritesMax: number
  /** How long a write may wait for its commit to begin before the storage lags. */
  writeLagMaxMs: number
  /** Checks the SQLite file before it is used: thorough, and slow if it is large. */
  checkOnStart: boolean
  /** Whether an older schema may be migrated. */
  migrate: boolean
  /** Connections of this process to PostgreSQL, in addition to one for the commits and one for each export. */
  postgresConnections: number
  postgresConnectTimeoutMs: number
  postgresStatementTimeoutMs: number
  /** Whether statements are prepared, which a connection pooler may not support. */
  postgresPrepare: boolean
  /** If the database must exist: the flag that names it, for the error. Commands that only read create none. */
  mustExistAt?: '--database' | '--from'
  /** Called if an older schema was migrated. */
  onMigrated?: ((migration: SchemaMigration) => void) | undefined
  /** The clock instead of the store's own, in milliseconds since 1970. */
  nowMs?: () => number
}
