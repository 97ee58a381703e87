import type { StoredPlant } from '../../plants/plant.ts'
import { type Idempotency, preconditionHolds } from '../../plants/plant-store.ts'
import { newPlantOf, type PlantWriteOutcome, type SingleWrite, type WriteOf } from './plant-write.ts'

type StoredKey = { fingerprint: string; version: number }

/** What a batch has to write when every operation in it has been judged. */
export interface BatchPlan {
  outcomes: PlantWriteOutcome[]
  /** By id: what is to be stored, or undefined where nothing is any more. */
  written: Map<bigint, StoredPlant | undefined>
  newKeys: NewKey[]
}

export interface NewKey {
  idempotency: Idempotency
  version: number
  atMs: number
}

/**
 * Judges the operations of a batch in their order, each on its own, against the plants and keys that are
 * stored now and locked. Pure: the promises are those of PlantStore.
 */
export function planBatch(
  batch: readonly SingleWrite[],
  stored: ReadonlyMap<bigint, StoredPlant>,
  storedKeys: ReadonlyMap<string, StoredKey>,
): BatchPlan {
  const written: BatchPlan['written'] = new Map()
  const keys = new Map(storedKeys)
  const newKeys: NewKey[] = []
  const find = (id: bigint) => (written.has(id) ? written.get(id) : stored.get(id))

  function create(write: WriteOf<'create'>): PlantWriteOutcome {
    const { id, idempotency, version, atMs } = write
    const known = idempotency === undefined ? undefined : keys.get(keyOf(idempotency))
    if (idempotency !== undefined && known !== undefined) {
      if (known.fingerprint !== idempotency.fingerprint) return { outcome: 'key-reused' }
      return { outcome: 'created', version: known.version }
    }
    if (find(id) !== undefined) return { outcome: 'taken' }
    written.set(id, newPlantOf(write))
    if (idempotency !== undefined) {
      keys.set(keyOf(idempotency), { fingerprint: idempotency.fingerprint, version })
      newKeys.push({ idempotency, version, atMs })
    }
    return { outcome: 'created', version }
  }

  function replace(write: WriteOf<'replace'>): PlantWriteOutcome {
    const found = find(write.id)
    if (!preconditionHolds(write.precondition, found?.version)) return { outcome: 'mismatch' }
    const plant = newPlantOf(write)
    if (found !== undefined) {
      plant.createdAtMs = found.createdAtMs
      plant.updatedAtMs = laterOf(write.atMs, found)
    }
    written.set(write.id, plant)
    return { outcome: found === undefined ? 'created' : 'replaced', plant }
  }

  function change({ id, change, precondition, atMs, version }: WriteOf<'update'>): PlantWriteOutcome {
    const found = find(id)
    if (found === undefined) return { outcome: 'absent' }
    if (!preconditionHolds(precondition, found.version)) return { outcome: 'mismatch' }
    const { tag: foundTag, ...rest } = found
    const { name = found.name, tag = foundTag ?? null } = change
    const plant = { ...rest, name, ...(tag !== null && { tag }), updatedAtMs: laterOf(atMs, found), version }
    written.set(id, plant)
    return { outcome: 'updated', plant }
  }

  function remove({ id, precondition }: WriteOf<'delete'>): PlantWriteOutcome {
    const found = find(id)
    if (found === undefined) return { outcome: 'absent' }
    if (!preconditionHolds(precondition, found.version)) return { outcome: 'mismatch' }
    written.set(id, undefined)
    return { outcome: 'deleted' }
  }

  function judge(write: SingleWrite): PlantWriteOutcome {
    switch (write.kind) {
      case 'create':
        return create(write)
      case 'replace':
        return replace(write)
      case 'update':
        return change(write)
      case 'delete':
        return remove(write)
    }
  }

  return { outcomes: batch.map(judge), written, newKeys }
}

/** A key as one text; a caller's id holds no space. */
export function keyOf({ caller, key }: Pick<Idempotency, 'caller' | 'key'>): string {
  return `${caller} ${key}`
}

/** Times do not go back, even where the clock does. */
function laterOf(atMs: number, { updatedAtMs }: StoredPlant): number {
  return Math.max(atMs, updatedAtMs)
}
