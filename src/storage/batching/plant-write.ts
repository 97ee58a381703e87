import { generateVersion, type PlantContent, type PlantUpdate, type StoredPlant } from '../../plants/plant.ts'
import type {
  CreateOutcome,
  DeleteOutcome,
  Idempotency,
  ImportOutcome,
  PlantStore,
  Precondition,
  ReplaceOutcome,
  UpdateOutcome,
} from '../../plants/plant-store.ts'
import { type ContentArrays, charactersIn, takeContent } from '../plant-columns.ts'

/** The time of a write (milliseconds since 1970) and the new version of the plant. */
interface Stamp {
  atMs: number
  version: number
}

/** The id and the new content of a plant. */
interface Written {
  id: bigint
  content: PlantContent
}

/** A write of one plant. */
export type SingleWrite =
  | ({ kind: 'create'; idempotency?: Idempotency } & Written & Stamp)
  | ({ kind: 'replace'; precondition: Precondition } & Written & Stamp)
  | ({ kind: 'update'; id: bigint; change: PlantUpdate; precondition: Precondition } & Stamp)
  | { kind: 'delete'; id: bigint; precondition: Precondition }

/** A write on its way to the group commit. */
export type PlantWrite = SingleWrite | ImportWrite

/** A chunk of an import, as columns: it is sent to a thread, and an object for each plant is expensive to copy. */
export interface ImportWrite {
  kind: 'import'
  replacesTaken: boolean
  atMs: number
  ids: BigInt64Array
  content: ContentArrays
  versions: Float64Array
  /** Characters of the content. */
  characters: number
}

/** Outcomes of the plants of a chunk: threads send the index in this list. */
export const IMPORT_OUTCOMES: readonly ImportOutcome[] = ['kept', 'created', 'replaced']
export const KEPT = 0
export const CREATED = 1
export const REPLACED = 2

/** The codes of the outcomes, in the order of the plants in the chunk. */
export interface ImportWriteOutcome {
  outcome: 'imported'
  codes: Uint8Array
}

export type PlantWriteOutcome =
  | CreateOutcome
  | ReplaceOutcome
  | UpdateOutcome
  | DeleteOutcome
  | ImportWriteOutcome

export type WriteOf<Kind extends PlantWrite['kind']> = Extract<PlantWrite, { kind: Kind }>

/** The plant that a write stores if its id is free. */
export function newPlantOf({ id, content, atMs, version }: Written & Stamp): StoredPlant {
  return { ...content, id, createdAtMs: atMs, updatedAtMs: atMs, version }
}

/** The plants that a chunk of an import stores if their ids are free. */
export function newPlantsOf({ ids, content, versions, atMs }: ImportWrite): StoredPlant[] {
  return Array.from(ids, (id, at) => {
    const version = versions[at] as number
    const plant: StoredPlant = { id, name: '', createdAtMs: atMs, updatedAtMs: atMs, version }
    takeContent(content, at, plant)
    return plant
  })
}

/** The characters of a write's content. */
export function charactersOf(write: PlantWrite): number {
  switch (write.kind) {
    case 'create':
    case 'replace':
      return charactersIn(write.content)
    case 'update':
      return charactersIn(write.change)
    case 'delete':
      return 0
    case 'import':
      return write.characters
  }
}

/**
 * The write methods of a PlantStore. Each write gets time and version and is passed to `submit`, which fulfils with an
 * outcome of that kind of write.
 */
export function createPlantWriting(
  submit: (write: PlantWrite) => Promise<unknown>,
  nowMs: () => number,
): Pick<PlantStore, 'create' | 'replace' | 'update' | 'delete'> {
  /** Time and version of every write but a delete. */
  const stamp = (): Stamp => ({ atMs: nowMs(), version: generateVersion() })
  const submitAs = <Outcome>(write: PlantWrite) => submit(write) as Promise<Outcome>
  return {
    create: (plant, idempotency) =>
      submitAs(
        idempotency === undefined
          ? { kind: 'create', id: plant.id, content: plant, ...stamp() }
          : { kind: 'create', id: plant.id, content: plant, ...stamp(), idempotency },
      ),
    replace: (id, content, precondition = {}) =>
      submitAs({ kind: 'replace', id, content, ...stamp(), precondition }),
    update: (id, change, precondition = {}) =>
      submitAs({ kind: 'update', id, change, ...stamp(), precondition }),
    delete: (id, precondition = {}) => submitAs({ kind: 'delete', id, precondition }),
  }
}
