import type { XStatic } from 'typebox/schema'
import { ID_MAX, ID_MIN, type NewPlant, type Plant, type PlantChange, type StoredPlant } from './plant.ts'

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
  get(id: bigint): Promise<StoredPlant | undefined>

  /** A page of plants in the order of their ids, signed. */
  list(query: PlantQuery): Promise<PlantPage>

  /** Replaces the plant of `id` whole, or creates it; judged and written in one step. */
  replace(id: bigint, plant: Plant, precondition?: Precondition): Promise<ReplaceOutcome>

  /** Changes the members that `change` names, the tag to none where it is null. */
  change(id: bigint, change: PlantChange, precondition?: Precondition): Promise<ChangeOutcome>

  delete(id: bigint, precondition?: Precondition): Promise<DeleteOutcome>

  /** The tags in use and how many plants have each, the most used first, then by tag; at most `limit`. */
  countTags(limit: number): Promise<TagCount[]>
}

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

export type CreateOutcome =
  | { outcome: 'created'; version: number }
  | { outcome: 'taken' }
  | { outcome: 'key-reused' }

export type ReplaceOutcome = { outcome: 'created' | 'replaced'; plant: StoredPlant } | { outcome: 'mismatch' }

export type ChangeOutcome = { outcome: 'changed'; plant: StoredPlant } | { outcome: 'absent' | 'mismatch' }

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
