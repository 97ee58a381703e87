import type { NewPlant } from '../plant.ts'
import { IMPORT_CHUNK_CHARACTERS, IMPORT_CHUNK_PLANTS_MAX, type ImportOutcome } from '../plant-store.ts'
import { createImportRows, type ImportRows } from './import-rows.ts'

/** While one step is committed the next one is on its way; more would only take memory. */
const STEPS_UNDER_WAY_MAX = 2

export interface ImportChunksOptions {
  /** Stores the plants of a step. */
  add(plants: readonly NewPlant[]): Promise<ImportOutcome[]>
  /** Told of each step in its order when it is stored; the next one waits for it. */
  settle(step: ImportRows, outcomes: readonly ImportOutcome[]): Promise<void> | undefined
  /** Told when a step has failed; `take` and `end` say with what. */
  onFailure(): void
}

/** Brings rows to a store in steps of a good size: full ones while rows come fast, small ones when they do not. */
export interface ImportChunks {
  /** Fulfils when more rows may be read: at once, or when a step is through. Rejects when one has failed. */
  take(rows: ImportRows): Promise<void>
  /** Fulfils when everything is settled; rejects when a step has failed. */
  end(): Promise<void>
  /** Whether a step was not stored, so that it is not known which of those behind it were. */
  readonly hasFailed: boolean
}

export function createImportChunks({ add, settle, onFailure }: ImportChunksOptions): ImportChunks {
  let gathered = createImportRows(1, 0)
  /** The steps under way, in their order: each fulfils after the one before it. */
  const underWay: Promise<void>[] = []
  let failure: { error: unknown } | undefined

  function begin(): void {
    const [step, rest] = splitStep(gathered)
    gathered = rest
    const before = underWay.at(-1)
    const adding = step.plants.length === 0 ? Promise.resolve([]) : add(step.plants)
    // Told when its turn comes.
    adding.catch(() => {})
    const settled = (async () => {
      await before
      await settle(step, await adding)
    })()
    underWay.push(settled)
    settled.then(
      () => {
        underWay.shift()
        // Rows that came slowly have waited for this.
        if (underWay.length === 0 && hasRows(gathered)) begin()
      },
      (error: unknown) => {
        if (failure !== undefined) return
        failure = { error }
        onFailure()
      },
    )
  }

  async function oneEnds(): Promise<void> {
    await underWay[0]
  }

  function check(): void {
    if (failure !== undefined) throw failure.error
  }

  return {
    async take(rows) {
      check()
      gathered = joined(gathered, rows)
      while (isFull(gathered)) {
        if (underWay.length < STEPS_UNDER_WAY_MAX) begin()
        else await oneEnds()
        check()
      }
      if (underWay.length === 0 && hasRows(gathered)) begin()
    },
    async end() {
      check()
      while (underWay.length > 0 || hasRows(gathered)) {
        if (underWay.length < STEPS_UNDER_WAY_MAX && hasRows(gathered)) begin()
        else await oneEnds()
        check()
      }
    },
    get hasFailed() {
      return failure !== undefined
    },
  }
}

function hasRows({ plants, refusals }: ImportRows): boolean {
  return plants.length > 0 || refusals.length > 0
}

function isFull({ plants, refusals, characters }: ImportRows): boolean {
  return (
    plants.length >= IMPORT_CHUNK_PLANTS_MAX ||
    // A refused row of three characters takes hundreds of bytes.
    refusals.length >= IMPORT_CHUNK_PLANTS_MAX ||
    characters >= IMPORT_CHUNK_CHARACTERS
  )
}

function joined(gathered: ImportRows, rows: ImportRows): ImportRows {
  if (!hasRows(gathered)) return rows
  gathered.plants.push(...rows.plants)
  gathered.lines.push(...rows.lines)
  gathered.refusals.push(...rows.refusals)
  gathered.nextLine = rows.nextLine
  gathered.characters += rows.characters
  return gathered
}

/** As many rows as a step may hold, and the others. */
function splitStep(gathered: ImportRows): [ImportRows, ImportRows] {
  const { plants, lines, refusals, nextLine, characters } = gathered
  const restLine = lines[IMPORT_CHUNK_PLANTS_MAX]
  if (restLine === undefined) return [gathered, createImportRows(nextLine, 0)]
  const rest = createImportRows(
    nextLine,
    (characters * (plants.length - IMPORT_CHUNK_PLANTS_MAX)) / plants.length,
  )
  rest.plants = plants.splice(IMPORT_CHUNK_PLANTS_MAX)
  rest.lines = lines.splice(IMPORT_CHUNK_PLANTS_MAX)
  const firstOfRest = refusals.findIndex(({ line }) => line > restLine)
  if (firstOfRest >= 0) rest.refusals = refusals.splice(firstOfRest)
  gathered.nextLine = restLine
  return [gathered, rest]
}
