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
 * Steps of all imports together that wait for a commit or are in one: enough that the next one is there when a
 * commit ends, few enough that a single write waits behind no more than these, however many imports there are.
 */
const SUBMITTED_STEPS_MAX = 2

export interface PlantImportOptions {
  /** Hands a step to the shared commits, however many writes wait there. */
  submit(write: ImportWrite): Promise<unknown>
  /** Tells which of these ids are taken. Rejects with an AppError. */
  findTaken(ids: BigInt64Array): Promise<ReadonlySet<bigint>>
  nowMs(): number
}

/** The importing part of a PlantStore, the same on every engine. */
export function createPlantImporting({ submit, findTaken, nowMs }: PlantImportOptions) {
  const takeTurn = createTurns(SUBMITTED_STEPS_MAX)

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
        const step = stepOf(plants, replacesTaken, nowMs())
        const { codes } = (await takeTurn(() => submit(step))) as ImportWriteOutcome
        return Array.from(codes, (code) => IMPORT_OUTCOMES[code] as ImportOutcome)
      },
      async close() {},
    }
  }
  return { openImport }
}

/** Runs work when fewer than `max` others run, in the order in which it came. */
function createTurns(max: number) {
  const waiting: (() => void)[] = []
  let running = 0
  return async function takeTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    if (running >= max) await new Promise<void>((resolve) => waiting.push(resolve))
    else running++
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) running--
      else next()
    }
  }
}

function checkSize(plants: readonly NewPlant[]): void {
  if (plants.length > IMPORT_CHUNK_PLANTS_MAX) {
    throw new RangeError(`a step of an import holds ${IMPORT_CHUNK_PLANTS_MAX} plants at most`)
  }
}

function stepOf(plants: readonly NewPlant[], replacesTaken: boolean, atMs: number): ImportWrite {
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
