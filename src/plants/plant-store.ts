import type { XStatic } from 'typebox/schema'
import {
  ID_MAX,
  ID_MIN,
  type NewPlant,
  type PlantContent,
  type PlantUpdate,
  type StoredPlant,
} from './plant.ts'

/**
 * Stores plants. Every write is atomic and durable: when its promise fulfils, it is on disk (or committed by the
 * database) and every later read sees it. Writes of one store take effect in the order of their calls. Methods reject
 * with an AppError: 50301 if a queue is full, 50302 if the storage fails, 50701 if its disk is full. A rejected write
 * stores nothing.
 */
export interface PlantStore {
  /**
   * Creates a plant. `taken`: the id is already used and the stored plant is unchanged. With `idempotency` the key is
   * stored in the same transaction. A retry with the same key and fingerprint is `created` with the first version; the
   * key with another fingerprint is `key-reused`. Only a successful create stores its key, which later expires.
   */
  create(plant: NewPlant, idempotency?: Idempotency): Promise<CreateOutcome>

  /** The plant `id`; undefined if there is none. */
  get(id: bigint, options?: ReadOptions): Promise<StoredPlant | undefined>

  /** A page of plants in the order of their ids, signed. */
  list(query: PlantQuery, options?: ReadOptions): Promise<PlantPage>

  /**
   * The greatest id in use that is at most `max`; undefined if there is none. One lookup in the index of the ids.
   */
  lastIdUpTo(max: bigint, options?: ReadOptions): Promise<bigint | undefined>

  /** Replaces the plant `id` or creates it. The check of the precondition and the write are atomic. */
  replace(id: bigint, plant: PlantContent, precondition?: Precondition): Promise<ReplaceOutcome>

  /** Updates the members in `update`. Null deletes an optional one. */
  update(id: bigint, update: PlantUpdate, precondition?: Precondition): Promise<UpdateOutcome>

  delete(id: bigint, precondition?: Precondition): Promise<DeleteOutcome>

  /**
   * The tags in use with the number of plants that have each, the most used first, then by tag. At most `limit`; fewer
   * if they are long.
   */
  countTags(limit: number, options?: ReadOptions): Promise<TagCount[]>

  /**
   * A step of counting plants by the day of their creation: at most `limit` plants with ids after `afterId` (undefined:
   * from the first), in the order of their signed ids; fewer if reading is slow. A step is short, so that other reads
   * run between two steps. Each step sees the store at its own time.
   */
  countAdditions(afterId: bigint | undefined, limit: number): Promise<AdditionsStep>

  /**
   * Starts an import of many plants in chunks. It returns at once and opens no connection yet. Always `close` it.
   */
  openImport(options: ImportOptions): PlantImport

  /**
   * A snapshot of every matching plant, in the order of their signed ids, taken when the first chunk is requested. A
   * chunk has one plant or more and is bounded in plants and characters; at most one is read ahead, so memory is
   * bounded. An export holds a connection and a snapshot from its first chunk until it ends, fails, or its consumer
   * returns (`break`); a consumer that stops early must return. The first chunk rejects with 50301 if too many exports
   * are running. Any chunk rejects with 50302 if the storage fails or is closed.
   */
  exportPlants(filter: PlantFilter, options?: ReadOptions): AsyncIterable<readonly StoredPlant[]>
}

/**
 * How a read is queued. A store runs a limited number of reads, queues more, and rejects the rest with 50301.
 */
export interface ReadOptions {
  /** The caller of the read: slots rotate among callers, and no caller can have all of them. */
  caller?: string | undefined
  /** Called when a queued read is about to run: false rejects it with 40000. */
  isWanted?: (() => boolean) | undefined
}

/**
 * The maximum number of plants in a chunk of an import. A chunk is part of one commit and delays the writes after it by
 * a few milliseconds.
 */
export const IMPORT_CHUNK_PLANTS_MAX = 1_000
/**
 * The size at which a chunk should end, in characters of names and tags, for the same reason. A larger chunk works, but
 * delays other writes for longer.
 */
export const IMPORT_CHUNK_CHARACTERS = 1024 * 1024

export interface ImportOptions {
  /** For a plant whose id is already used: keep the stored one, or replace it like `replace`. */
  onConflict: 'keep' | 'replace'
  /** If true, nothing is stored and the outcomes are what they would be. */
  dryRun: boolean
}

export interface PlantImport {
  /**
   * Creates the plants of a chunk in one durable commit, or none of them if it rejects. Returns one outcome each, in
   * order. An id from earlier in the same import is already used. Chunks take effect in the order of their calls, and
   * two may run at a time. Queued single writes share the commit and are not starved: chunks of several imports
   * alternate, and a single write that is called while a chunk is queued takes effect before it. A dry run has the same
   * outcomes and constant memory. Rejects with a RangeError for more than IMPORT_CHUNK_PLANTS_MAX plants.
   */
  add(plants: readonly NewPlant[]): Promise<ImportOutcome[]>
  /** Waits for the running chunks and releases the resources of the import. Call it once, after the last `add`. */
  close(): Promise<void>
}

/** `kept`: the id was already used, nothing changed. `replaced`: createdAt stays, as with `replace`. */
export type ImportOutcome = 'created' | 'replaced' | 'kept'

/** A PlantQuery without a limit. */
export type PlantFilter = Omit<PlantQuery, 'limit'>

export interface Idempotency {
  /** The sender of the key. Each caller has keys of its own. */
  caller: string
  key: string
  /** A digest of the plant in the body: equal for equal requests. */
  fingerprint: string
}

export interface PlantQuery {
  limit: number
  /** Only ids greater than this. */
  afterId?: bigint
  /** Only plants with exactly this tag. */
  tag?: string
  /** Only plants whose name has each of these words, as a prefix of one of its own (`plant-search.ts`). */
  words?: readonly string[]
}

/** The first id after `afterId`; undefined after the last possible id. */
export function firstIdAfter(afterId: bigint | undefined): bigint | undefined {
  if (afterId === undefined) return ID_MIN
  return afterId === ID_MAX ? undefined : afterId + 1n
}

export interface PlantPage {
  /** May be fewer than the limit although more follow: a page is also bounded in bytes. */
  plants: StoredPlant[]
  /** Whether plants follow the last one of this page. */
  hasMore: boolean
}

/** Versions that the stored plant must have (`ifMatch`) or must not have (`ifNoneMatch`); `any` is every version. */
export interface Precondition {
  ifMatch?: 'any' | readonly number[]
  ifNoneMatch?: 'any' | readonly number[]
}

/** A tag in use, with the number of plants that have it. */
export const TagCountSchema = {
  type: 'object',
  required: ['tag', 'count'],
  properties: { tag: { type: 'string' }, count: { type: 'integer', minimum: 1 } },
} as const

export type TagCount = XStatic<typeof TagCountSchema>

export interface AdditionsStep {
  /** The plants of this step by the day of their creation, in days since 1970 (UTC). Each day occurs once. */
  days: { day: number; count: number }[]
  /** The `afterId` of the next step; undefined after the last step. */
  lastId: bigint | undefined
}

export type CreateOutcome =
  | { outcome: 'created'; version: number }
  | { outcome: 'taken' }
  | { outcome: 'key-reused' }

export type ReplaceOutcome = { outcome: 'created' | 'replaced'; plant: StoredPlant } | { outcome: 'mismatch' }

export type UpdateOutcome = { outcome: 'updated'; plant: StoredPlant } | { outcome: 'absent' | 'mismatch' }

export type DeleteOutcome = { outcome: 'deleted' | 'absent' | 'mismatch' }

/**
 * Whether the precondition holds for a plant of this version, or for an absent plant (undefined) (RFC 9110 §13.1).
 */
export function preconditionHolds(precondition: Precondition, version: number | undefined): boolean {
  const { ifMatch, ifNoneMatch } = precondition
  if (ifMatch !== undefined && !matches(ifMatch, version)) return false
  return ifNoneMatch === undefined || !matches(ifNoneMatch, version)
}

function matches(tags: 'any' | readonly number[], version: number | undefined): boolean {
  if (version === undefined) return false
  return tags === 'any' || tags.includes(version)
}
