import type { NewPlant } from '../plant.ts'
import { IMPORT_CHUNK_CHARACTERS, IMPORT_CHUNK_PLANTS_MAX, type ImportOutcome } from '../plant-store.ts'
import { createImportRows, type ImportRows } from './import-rows.ts'

/** While one chunk is committed the next one is on its way; more would only take memory. */
const CHUNKS_RUNNING_MAX = 2

export interface ImportChunksOptions {
  /** Stores the plants of a chunk. */
  add(plants: readonly NewPlant[]): Promise<ImportOutcome[]>
  /** Called for each chunk in order when it is stored; the next one waits for it. */
  settle(chunk: ImportRows, outcomes: readonly ImportOutcome[]): Promise<void> | undefined
  /** Called when a chunk has failed; `take` and `end` reject with its error. */
  onFailure(): void
}

/** Brings rows to a store in chunks of a good size: full ones while rows come fast, small ones when they do not. */
export interface ImportChunks {
  /** Fulfils when more rows may be read: at once, or when a chunk is through. Rejects when one has failed. */
  take(rows: ImportRows): Promise<void>
  /** Fulfils when everything is settled; rejects when a chunk has failed. */
  end(): Promise<void>
  /** Whether a chunk was not stored, so that it is unknown which later ones were. */
  readonly hasFailed: boolean
}

export function createImportChunks({ add, settle, onFailure }: ImportChunksOptions): ImportChunks {
  let gathered = createImportRows(1, 0)
  /** The chunks under way, in their order: each fulfils after the one before it. */
  const underWay: Promise<void>[] = []
  let failure: { error: unknown } | undefined

  function begin(): void {
    const [chunk, rest] = splitChunk(gathered)
    gathered = rest
    const before = underWay.at(-1)
    const adding = chunk.plants.length === 0 ? Promise.resolve([]) : add(chunk.plants)
    // Told when its turn comes.
    adding.catch(() => {})
    const settled = (async () => {
      await before
      await settle(chunk, await adding)
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
        if (underWay.length < CHUNKS_RUNNING_MAX) begin()
        else await oneEnds()
        check()
      }
      if (underWay.length === 0 && hasRows(gathered)) begin()
    },
    async end() {
      check()
      while (underWay.length > 0 || hasRows(gathered)) {
        if (underWay.length < CHUNKS_RUNNING_MAX && hasRows(gathered)) begin()
        else await oneEnds()
        check()
      }
    },
    get hasFailed() {
      return failure !== undefined
    },
  }
}

function hasRows({ plants, failures }: ImportRows): boolean {
  return plants.length > 0 || failures.length > 0
}

function isFull({ plants, failures, characters }: ImportRows): boolean {
  return (
    plants.length >= IMPORT_CHUNK_PLANTS_MAX ||
    // A failed row of three characters takes hundreds of bytes.
    failures.length >= IMPORT_CHUNK_PLANTS_MAX ||
    characters >= IMPORT_CHUNK_CHARACTERS
  )
}

function joined(gathered: ImportRows, rows: ImportRows): ImportRows {
  if (!hasRows(gathered)) return rows
  gathered.plants.push(...rows.plants)
  gathered.lines.push(...rows.lines)
  gathered.failures.push(...rows.failures)
  gathered.nextLine = rows.nextLine
  gathered.characters += rows.characters
  return gathered
}

/** As many rows as a chunk may hold, and the others. */
function splitChunk(gathered: ImportRows): [ImportRows, ImportRows] {
  const { plants, lines, failures, nextLine, characters } = gathered
  const restLine = lines[IMPORT_CHUNK_PLANTS_MAX]
  if (restLine === undefined) return [gathered, createImportRows(nextLine, 0)]
  const rest = createImportRows(
    nextLine,
    (characters * (plants.length - IMPORT_CHUNK_PLANTS_MAX)) / plants.length,
  )
  rest.plants = plants.splice(IMPORT_CHUNK_PLANTS_MAX)
  rest.lines = lines.splice(IMPORT_CHUNK_PLANTS_MAX)
  const firstOfRest = failures.findIndex(({ line }) => line > restLine)
  if (firstOfRest >= 0) rest.failures = failures.splice(firstOfRest)
  gathered.nextLine = restLine
  return [gathered, rest]
}
