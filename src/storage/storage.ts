import type { StoredPlant } from '../plants/plant.ts'
import type { PlantStore } from '../plants/plant-store.ts'
import type { StoredToken } from '../tokens/token.ts'
import type { TokenStore } from '../tokens/token-store.ts'
import type { CommitReport } from './batching/group-commit.ts'

/** Everything that outlives the process. */
export interface Storage {
  /** What keeps it: SQLite in a file, or a PostgreSQL server. */
  engine: 'sqlite' | 'postgres'
  plants: PlantStore
  tokens: TokenStore
  dump: StorageDump
  activity: StorageActivity
  /** Whether a write that is begun now would have to wait too long for its commit. */
  isLagging(): boolean
  /** Rejects when the storage does not answer. */
  ping(): Promise<void>
  /** Finishes the writes that were begun and lets go of the store. */
  close(): Promise<void>
}

/** What a storage is doing, for those who watch it. */
export interface StorageActivity {
  /** Has `tell` told of every shared commit from now on, as it ends. It must not throw. */
  onCommit(tell: (commit: CommitReport) => void): void
  /**
   * Has `tell` told what the store cannot do beside the writes, and why: names cannot be indexed as the index is
   * damaged, say. Each trouble is told once until it is over. It must not throw.
   */
  onTrouble(tell: (trouble: string) => void): void
  /**
   * Whether the files of the open database are moved, removed or replaced. Writes and exports are then rejected with
   * 50302; other reads come from the open files. False where the database is not a file.
   */
  filesMoved(): boolean
  /** Writes that wait for a commit now. */
  queuedWrites(): number
  /** Exports that are under way now. */
  runningExports(): number
  /**
   * Plants that a search may not find yet, a plant once for each of its writes; 0 where names are indexed with
   * the plants. Throws what a read throws.
   */
  unindexedPlants(): number
}

/** A token as a store keeps it, with the secret that a rotation replaced and until when that one is good. */
export interface HashedToken {
  token: StoredToken
  hash: string
  previous?: { hash: string; expiresAtMs: number }
}

/** An idempotency key as a store keeps it, with the version of the plant that it made. */
export interface StoredIdempotencyKey {
  caller: string
  key: string
  fingerprint: string
  plantVersion: number
  createdAtMs: number
}

/** What is in a storage, as it is: for moving it to another one (`copy-storage.ts`). */
export interface StorageDump {
  tokens(): Promise<HashedToken[]>
  /** Adds plants with the times and versions that they have; one whose id is taken is left out. Durable. */
  addPlants(plants: readonly StoredPlant[]): Promise<void>
  /** Adds tokens; one that is there already is left as it is. Durable. */
  addTokens(tokens: readonly HashedToken[]): Promise<void>
  /** Some idempotency keys, so many at most, in an order of the store's own: the first, or those after one. */
  keys(limit: number, after?: Pick<StoredIdempotencyKey, 'caller' | 'key'>): Promise<StoredIdempotencyKey[]>
  /** Adds idempotency keys; one that is there already is left as it is. Durable. */
  addKeys(keys: readonly StoredIdempotencyKey[]): Promise<void>
}

export interface StorageOptions {
  /** How long an idempotency key is remembered. */
  idempotencyTtlMs: number
  /** Writes that may wait for a commit before more are refused with 50301. */
  queuedWritesMax: number
  /** Time that a write may have to wait for its commit to begin before the storage lags. */
  writeLagMaxMs: number
  /** Examines the file before it is used: thorough, and slow on a large one. */
  checkOnStart: boolean
  /** Whether a schema that is not up to date may be brought up to date. */
  migrate: boolean
  /** Connections of this process to PostgreSQL, beside the one for the shared commits and one for each export. */
  postgresConnections: number
  postgresConnectTimeoutMs: number
  postgresStatementTimeoutMs: number
  /** Whether statements are prepared, which a pooler before PostgreSQL may not allow. */
  postgresPrepare: boolean
  /** The flag that names the store, where that must be there already: a tool that lists what is in it makes none. */
  mustExistAt?: '--database' | '--from'
  /** The clock instead of the store's own, in milliseconds since 1970. */
  nowMs?: () => number
}
