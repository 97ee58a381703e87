import { CONTENT_MEMBERS, type PlantContent, type PlantUpdate, type StoredPlant } from '../../plants/plant.ts'
import {
  type CreateOutcome,
  type DeleteOutcome,
  type Idempotency,
  preconditionHolds,
  type ReplaceOutcome,
  type UpdateOutcome,
} from '../../plants/plant-store.ts'
import { expressibleTime } from '../../plants/time-text.ts'
import { newPlantOf, type SingleWrite, type WriteOf } from './plant-write.ts'

type SingleOutcome = CreateOutcome | ReplaceOutcome | UpdateOutcome | DeleteOutcome

/** The stored state that a write depends on, locked until the plan is carried out. */
export interface WriteContext {
  /** The stored plant with the write's id. */
  plant: StoredPlant | undefined
  /** The write's stored idempotency key, even if it has expired. */
  key: StoredKey | undefined
  idempotencyTtlMs: number
}

export interface StoredKey {
  fingerprint: string
  version: number
  createdAtMs: number
}

export interface NewKey {
  idempotency: Idempotency
  version: number
  atMs: number
}

/** The outcome of a write and the changes to store. */
export interface WritePlan {
  outcome: SingleOutcome
  /** The plant to store, or undefined to delete it. Absent if nothing changes. */
  written?: { plant: StoredPlant | undefined }
  newKey?: NewKey
}

/** Decides the outcome of a write, for both engines. Pure; `PlantStore` documents the outcomes. */
export function planWrite(write: SingleWrite, context: WriteContext): WritePlan {
  switch (write.kind) {
    case 'create':
      return planCreate(write, context)
    case 'replace':
      return planReplace(write, context.plant)
    case 'update':
      return planUpdate(write, context.plant)
    case 'delete':
      return planDelete(write, context.plant)
  }
}

function planCreate(write: WriteOf<'create'>, { plant, key, idempotencyTtlMs }: WriteContext): WritePlan {
  const { idempotency, version, atMs } = write
  if (idempotency !== undefined && key !== undefined && key.createdAtMs >= atMs - idempotencyTtlMs) {
    if (key.fingerprint !== idempotency.fingerprint) return { outcome: { outcome: 'key-reused' } }
    return { outcome: { outcome: 'created', version: key.version } }
  }
  if (plant !== undefined) return { outcome: { outcome: 'taken' } }
  const plan: WritePlan = {
    outcome: { outcome: 'created', version },
    written: { plant: newPlantOf(write) },
  }
  if (idempotency !== undefined) plan.newKey = { idempotency, version, atMs }
  return plan
}

function planReplace(write: WriteOf<'replace'>, found: StoredPlant | undefined): WritePlan {
  if (!preconditionHolds(write.precondition, found?.version)) return { outcome: { outcome: 'mismatch' } }
  const plant = newPlantOf(write)
  if (found === undefined) return { outcome: { outcome: 'created', plant }, written: { plant } }
  plant.createdAtMs = expressibleTime(found.createdAtMs)
  plant.updatedAtMs = laterOf(write.atMs, found)
  return { outcome: { outcome: 'replaced', plant }, written: { plant } }
}

function planUpdate(write: WriteOf<'update'>, found: StoredPlant | undefined): WritePlan {
  if (found === undefined) return { outcome: { outcome: 'absent' } }
  if (!preconditionHolds(write.precondition, found.version)) return { outcome: { outcome: 'mismatch' } }
  const { id } = found
  const times = { createdAtMs: expressibleTime(found.createdAtMs), updatedAtMs: laterOf(write.atMs, found) }
  const plant = { id, ...changedContent(found, write.change), ...times, version: write.version }
  return { outcome: { outcome: 'updated', plant }, written: { plant } }
}

function planDelete(write: WriteOf<'delete'>, found: StoredPlant | undefined): WritePlan {
  if (found === undefined) return { outcome: { outcome: 'absent' } }
  if (!preconditionHolds(write.precondition, found.version)) return { outcome: { outcome: 'mismatch' } }
  return { outcome: { outcome: 'deleted' }, written: { plant: undefined } }
}

/** The content after a merge patch (RFC 7396). */
function changedContent(content: PlantContent, change: PlantUpdate): PlantContent {
  const changed: PlantContent = { name: '' }
  for (const { get, set } of CONTENT_MEMBERS) {
    const given = get(change)
    const text = given === undefined ? get(content) : given
    if (text !== undefined && text !== null) set(changed, text)
  }
  return changed
}

/** The outcomes of a batch and the changes to store. */
export interface BatchPlan {
  outcomes: SingleOutcome[]
  /** By id: the plant to store, or undefined to delete it. */
  written: Map<bigint, StoredPlant | undefined>
  newKeys: NewKey[]
}

export interface BatchContext {
  /** The stored plants with the ids of the batch, by id. */
  plants: ReadonlyMap<bigint, StoredPlant>
  /** The stored idempotency keys of the batch, by `keyOf`. */
  keys: ReadonlyMap<string, StoredKey>
  idempotencyTtlMs: number
}

/** Plans the writes of a batch in order: each one sees the changes of the previous ones. Pure. */
export function planBatch(batch: readonly SingleWrite[], context: BatchContext): BatchPlan {
  const { idempotencyTtlMs } = context
  const written: BatchPlan['written'] = new Map()
  const keys = new Map(context.keys)
  const newKeys: NewKey[] = []
  const outcomes = batch.map((write) => {
    const { id } = write
    const idempotency = write.kind === 'create' ? write.idempotency : undefined
    const plan = planWrite(write, {
      plant: written.has(id) ? written.get(id) : context.plants.get(id),
      key: idempotency && keys.get(keyOf(idempotency)),
      idempotencyTtlMs,
    })
    if (plan.written !== undefined) written.set(id, plan.written.plant)
    if (plan.newKey !== undefined) {
      const { version, atMs } = plan.newKey
      const { fingerprint } = plan.newKey.idempotency
      keys.set(keyOf(plan.newKey.idempotency), { fingerprint, version, createdAtMs: atMs })
      newKeys.push(plan.newKey)
    }
    return plan.outcome
  })
  return { outcomes, written, newKeys }
}

/** Caller and key as one text; the id of a caller contains no space. */
export function keyOf({ caller, key }: Pick<Idempotency, 'caller' | 'key'>): string {
  return `${caller} ${key}`
}

/** Times never go back, even if the clock does. */
function laterOf(atMs: number, { updatedAtMs }: StoredPlant): number {
  return Math.max(atMs, expressibleTime(updatedAtMs))
}
