import { AppError } from '../../errors.ts'
import { BoundedQueue } from '../../load/bounded-queue.ts'
import { generateVersion, type NewPlant } from '../../plants/plant.ts'
import {
  IMPORT_CHUNK_PLANTS_MAX,
  type ImportOptions,
  type ImportOutcome,
  type PlantImport,
} from '../../plants/plant-store.ts'
import { charactersIn, createContentArrays, putContent } from '../plant-columns.ts'
import { openDryImport } from './dry-import.ts'
import { IMPORT_OUTCOMES, type ImportWrite, type ImportWriteOutcome } from './plant-write.ts'

/**
 * Submitted chunks of all imports together: enough that the next one is ready when a commit ends. A single write never
 * waits for more, however many imports run.
 */
const SUBMITTED_CHUNKS_MAX = 2
/** Never reached: the number of imports is limited, and each has at most two chunks. */
const QUEUED_CHUNKS_MAX = 1_000

export interface PlantImportOptions {
  /** Submits a chunk to the group commit, even if its queue is full. */
  submit(write: ImportWrite): Promise<unknown>
  /** Returns which of these ids are taken. Rejects with an AppError. */
  findTaken(ids: BigInt64Array): Promise<ReadonlySet<bigint>>
  nowMs(): number
}

/** The import methods of a PlantStore, for both engines. */
export function createPlantImporting({ submit, findTaken, nowMs }: PlantImportOptions) {
  const queue = new BoundedQueue({
    slots: SUBMITTED_CHUNKS_MAX,
    queuedMax: QUEUED_CHUNKS_MAX,
    overloaded: new AppError(50301, 'Too many imports are running. Retry when one has ended.', {
      reason: 'imports',
    }),
  })

  function openImport({ onConflict, dryRun }: ImportOptions): PlantImport {
    const replacesTaken = onConflict === 'replace'
    if (dryRun) {
      const dryImport = openDryImport(findTaken)
      return {
        async add(plants) {
          checkSize(plants)
          const isNew = await dryImport.add(BigInt64Array.from(plants, ({ id }) => id))
          return isNew.map((one) => (one ? 'created' : replacesTaken ? 'replaced' : 'kept'))
        },
        close: dryImport.close,
      }
    }
    return {
      async add(plants) {
        checkSize(plants)
        if (plants.length === 0) return []
        const chunk = chunkOf(plants, replacesTaken, nowMs())
        const { codes } = (await queue.run(() => submit(chunk))) as ImportWriteOutcome
        return Array.from(codes, (code) => IMPORT_OUTCOMES[code] as ImportOutcome)
      },
      async close() {},
    }
  }
  return { openImport }
}

function checkSize(plants: readonly NewPlant[]): void {
  if (plants.length > IMPORT_CHUNK_PLANTS_MAX) {
    throw new RangeError(`a chunk of an import has at most ${IMPORT_CHUNK_PLANTS_MAX} plants`)
  }
}

function chunkOf(plants: readonly NewPlant[], replacesTaken: boolean, atMs: number): ImportWrite {
  const ids = new BigInt64Array(plants.length)
  const content = createContentArrays(plants.length)
  const versions = new Float64Array(plants.length)
  let characters = 0
  for (let at = 0; at < plants.length; at++) {
    const plant = plants[at] as NewPlant
    ids[at] = plant.id
    putContent(content, at, plant)
    versions[at] = generateVersion()
    characters += charactersIn(plant)
  }
  return { kind: 'import', replacesTaken, atMs, ids, content, versions, characters }
}
