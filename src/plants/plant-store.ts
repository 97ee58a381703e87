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
 * Keeps plants. Every write is atomic and durable: when its promise fulfils, the change is on disk (or
 * committed by the database) and every later read sees it. Writes of one store take effect in the order in
 * which they were called. A method that cannot keep its promise rejects with an AppError: 50301 when too many
 * writes wait, 50302 when the storage fails, 50701 when it is full; of a rejected write nothing is stored.
 */
export interface PlantStore {
  /**
   * Adds a plant. `taken`: the id is in use, the stored plant is unchanged. With `idempotency`, the key is
   * stored in the same transaction: the same key and fingerprint answer as the first time (`created`, with
   * that version), the key with another fingerprint is `key-reused`. A key is spent by a success only, and
   * forgotten after its time.
   */
  create(plant: NewPlant, idempotency?: Idempotency): Promise<CreateOutcome>

  /** The plant of `id`; undefined when there is none. */
  get(id: bigint, options?: ReadOptions): Promise<StoredPlant | undefined>

  /** A page of plants in the order of their ids, signed. */
  list(query: PlantQuery, options?: ReadOptions): Promise<PlantPage>

  /** Replaces the plant of `id` whole, or creates it; judged and written in one step. */
  replace(id: bigint, plant: PlantContent, precondition?: Precondition): Promise<ReplaceOutcome>

  /** Changes the members that `change` names, the tag to none where it is null. */
  update(id: bigint, change: PlantUpdate, precondition?: Precondition): Promise<UpdateOutcome>

  delete(id: bigint, precondition?: Precondition): Promise<DeleteOutcome>

  /**
   * The tags in use and how many plants have each, the most used first, then by tag; at most `limit`, and fewer where
   * their texts are long.
   */
  countTags(limit: number, options?: ReadOptions): Promise<TagCount[]>

  /**
   * A step of counting on which days plants were added: of those with ids after `afterId` (undefined: of all), in the
   * order of their ids, signed, the first `limit` at most, and fewer where they take long to read. It is short, so that
   * other reads come in between two steps. Each step sees the collection as it is then.
   */
  countAdditions(afterId: bigint | undefined, limit: number): Promise<AdditionsStep>

  /**
   * Begins an import: plants in bulk, in steps. Opens nothing by itself that would have to wait; `close` it in
   * the end, whatever happened.
   */
  openImport(options: ImportOptions): PlantImport

  /**
   * Every plant that matches, in the order of ids, signed, as the collection was at one moment: when the first
   * step was asked for. It comes in steps of one plant or more, bounded in number and in characters, so that
   * memory is bounded however many there are; one step at most is read before it is asked for. An export holds
   * a connection and a snapshot from its first step on until it is at its end, has failed, or its consumer
   * returns (`break`): whoever stops to ask must return. The first step rejects with 50301 when as many exports
   * as may be are under way; any step rejects with 50302 when the storage fails or is closed.
   */
  exportPlants(filter: PlantFilter, options?: ReadOptions): AsyncIterable<readonly StoredPlant[]>
}

/**
 * How a read is queued. A store runs so many reads at once, queues so many others, and rejects the rest with 50301.
 */
export interface ReadOptions {
  /** Whose read it is: callers take turns, and none may have every slot. */
  caller?: string | undefined
  /** Called when a read that was queued would start: false rejects it with 40000. */
  isWanted?: (() => boolean) | undefined
}

/**
 * Plants that one step of an import may hold, and one more is refused: a step is a part of one commit, which
 * holds up the writes behind it for a few milliseconds.
 */
export const IMPORT_CHUNK_PLANTS_MAX = 1_000
/**
 * Characters of names and tags after which a step should end, for the same reason. A step that has more works
 * as well; it then takes its time.
 */
export const IMPORT_CHUNK_CHARACTERS = 1024 * 1024

export interface ImportOptions {
  /** What becomes of a plant whose id is taken: the stored one is kept, or replaced as by `replace`. */
  onConflict: 'keep' | 'replace'
  /** Whether nothing is stored, and only told what would be. */
  dryRun: boolean
}

export interface PlantImport {
  /**
   * Adds plants in their order, all in one durable commit, or none of them when it rejects, as every write does.
   * One outcome each, in order. A plant whose id came earlier in the same import counts as taken. Steps take
   * effect in the order in which they were called, and two may well be under way at a time. Single writes that
   * wait share their commit, and are not starved: where there are several imports their steps take turns, and a
   * single write that is called while a step waits for its turn takes effect before it. A dry run answers the
   * same and stores nothing, with constant memory. Rejects with a RangeError for more than IMPORT_CHUNK_PLANTS_MAX
   * plants.
   */
  add(plants: readonly NewPlant[]): Promise<ImportOutcome[]>
  /** Lets go of what the import holds, once the steps under way have ended. To be called once, after the last `add`. */
  close(): Promise<void>
}

/** `kept`: the id was taken, nothing changed. `replaced`: createdAt stays, as with `replace`. */
export type ImportOutcome = 'created' | 'replaced' | 'kept'

/** Which plants: those of a PlantQuery, as many as there are. */
export type PlantFilter = Omit<PlantQuery, 'limit'>

export interface Idempotency {
  /** Who sent the key: keys of different callers never meet. */
  caller: string
  key: string
  /** Equal for equal requests: a digest of what the body asked for. */
  fingerprint: string
}

export interface PlantQuery {
  limit: number
  /** Only ids greater than this. */
  afterId?: bigint
  /** Only plants with exactly this tag. */
  tag?: string
  /** Only plants whose name holds each of these words, as a prefix of one of its own (`plant-search.ts`). */
  words?: readonly string[]
}

/** The first id that a page with this `afterId` can hold; undefined where no id follows. */
export function firstIdAfter(afterId: bigint | undefined): bigint | undefined {
  if (afterId === undefined) return ID_MIN
  return afterId === ID_MAX ? undefined : afterId + 1n
}

export interface PlantPage {
  /** May be fewer than the limit while there is more: a page is bounded in bytes, too. */
  plants: StoredPlant[]
  /** Whether plants follow the last one of this page. */
  hasMore: boolean
}

/** Versions that the stored plant must have, or must not; `any` stands for whatever it is. */
export interface Precondition {
  ifMatch?: 'any' | readonly number[]
  ifNoneMatch?: 'any' | readonly number[]
}

/** A tag in use, and how many plants have it. */
export const TagCountSchema = {
  type: 'object',
  required: ['tag', 'count'],
  properties: { tag: { type: 'string' }, count: { type: 'integer', minimum: 1 } },
} as const

export type TagCount = XStatic<typeof TagCountSchema>

export interface AdditionsStep {
  /** How many of the plants of this step were added on which day, a number of days since 1970 (UTC); each day once. */
  days: { day: number; count: number }[]
  /** After which the next step begins; undefined when no plant is left to be counted. */
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
 * Whether the precondition holds for a plant of this version; undefined where there is no plant (RFC 9110
 * §13.1).
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
