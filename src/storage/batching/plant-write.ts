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

/** When a plant is written (milliseconds since 1970), and the version that it then has. */
interface Stamp {
  atMs: number
  version: number
}

/** The plant of this id with this content. */
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

/** What a store is asked to write, on its way to the commit that it shares with others. */
export type PlantWrite = SingleWrite | ImportWrite

/** A step of an import, as columns: it crosses to a thread, and an object a plant is dear to copy. */
export interface ImportWrite {
  kind: 'import'
  replacesTaken: boolean
  atMs: number
  ids: BigInt64Array
  content: ContentArrays
  versions: Float64Array
  /** How much text is in the content. */
  characters: number
}

/** What became of a plant of a step, as it crosses from a thread: its place here. */
export const IMPORT_OUTCOMES: readonly ImportOutcome[] = ['kept', 'created', 'replaced']
export const KEPT = 0
export const CREATED = 1
export const REPLACED = 2

/** For each plant of the step, in order, the code of what became of it. */
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

/** The plant that a write leaves where there was none. */
export function newPlantOf({ id, content, atMs, version }: Written & Stamp): StoredPlant {
  return { ...content, id, createdAtMs: atMs, updatedAtMs: atMs, version }
}

/** The plants of a step of an import, each as it is where its id is free. */
export function newPlantsOf({ ids, content, versions, atMs }: ImportWrite): StoredPlant[] {
  return Array.from(ids, (id, at) => {
    const version = versions[at] as number
    const plant: StoredPlant = { id, name: '', createdAtMs: atMs, updatedAtMs: atMs, version }
    takeContent(content, at, plant)
    return plant
  })
}

/** How much text a write carries. */
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
 * The writing half of a PlantStore, stamped and handed to `submit`, which answers each kind of write with the
 * outcomes of that kind.
 */
export function createPlantWriting(
  submit: (write: PlantWrite) => Promise<unknown>,
  nowMs: () => number,
): Pick<PlantStore, 'create' | 'replace' | 'update' | 'delete'> {
  /** What every write but a deletion is stamped with. */
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
