import { generateVersion, type PlantUpdate, type StoredPlant } from '../../plants/plant.ts'
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

/** When a plant is written (milliseconds since 1970), and the version that it then has. */
interface Stamp {
  atMs: number
  version: number
}

interface PlantText {
  id: bigint
  name: string
  tag: string | null
}

/** A write of one plant. */
export type SingleWrite =
  | ({ kind: 'create'; idempotency?: Idempotency } & PlantText & Stamp)
  | ({ kind: 'replace'; precondition: Precondition } & PlantText & Stamp)
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
  names: string[]
  tags: (string | null)[]
  versions: Float64Array
  /** How much text is in names and tags. */
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
export function newPlantOf({ id, name, tag, atMs, version }: PlantText & Stamp): StoredPlant {
  const times = { createdAtMs: atMs, updatedAtMs: atMs, version }
  return tag === null ? { id, name, ...times } : { id, name, tag, ...times }
}

/** The plants of a step of an import, each as it is where its id is free. */
export function newPlantsOf({ ids, names, tags, versions, atMs }: ImportWrite): StoredPlant[] {
  return Array.from(ids, (id, at) =>
    newPlantOf({
      id,
      name: names[at] as string,
      tag: tags[at] as string | null,
      atMs,
      version: versions[at] as number,
    }),
  )
}

/** How much text a write carries. */
export function charactersOf(write: PlantWrite): number {
  switch (write.kind) {
    case 'create':
    case 'replace':
      return write.name.length + (write.tag?.length ?? 0)
    case 'update':
      return (write.change.name?.length ?? 0) + (write.change.tag?.length ?? 0)
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
    create: ({ id, name, tag = null }, idempotency) =>
      submitAs(
        idempotency === undefined
          ? { kind: 'create', id, name, tag, ...stamp() }
          : { kind: 'create', id, name, tag, ...stamp(), idempotency },
      ),
    replace: (id, { name, tag = null }, precondition = {}) =>
      submitAs({ kind: 'replace', id, name, tag, ...stamp(), precondition }),
    update: (id, change, precondition = {}) =>
      submitAs({ kind: 'update', id, change, ...stamp(), precondition }),
    delete: (id, precondition = {}) => submitAs({ kind: 'delete', id, precondition }),
  }
}
