import { writeOutcomeOf } from '../../errors.ts'
import type { NewPlant } from '../plant.ts'
import { IMPORT_CHUNK_CHARACTERS, IMPORT_CHUNK_PLANTS_MAX, type ImportOutcome } from '../plant-store.ts'
import { createImportRows, type ImportRows } from './import-rows.ts'

/** While one chunk is committed, the next one is sent. More would only take memory. */
const CHUNKS_RUNNING_MAX = 2

export interface ImportChunksOptions {
  /** Stores the plants of a chunk. */
  add(plants: readonly NewPlant[]): Promise<ImportOutcome[]>
  /** Called for each stored chunk, in order. The next chunk waits for its promise. */
  settle(chunk: ImportRows, outcomes: readonly ImportOutcome[]): Promise<void> | undefined
  /** Called when a chunk has failed; `take` and `end` reject with its error. */
  onFailure(): void
}

/** Stores rows in chunks: full chunks while rows arrive fast, small ones when they arrive slowly. */
export interface ImportChunks {
  /** Fulfils when more rows may be read. Rejects if a chunk has failed. */
  take(rows: ImportRows): Promise<void>
  /** Fulfils when every chunk is settled. Rejects if one has failed. */
  end(): Promise<void>
  /**
   * After a failure: `none` if no chunk is stored that was not settled, otherwise `unknown`. Waits for the chunks that
   * were running when one failed.
   */
  outcomeOfUnsettled(): Promise<'none' | 'unknown'>
}

export function createImportChunks({ add, settle, onFailure }: ImportChunksOptions): ImportChunks {
  let gathered = createImportRows(1, 0)
  /** The running chunks, in order. Each fulfils after the previous one. */
  const running: Promise<void>[] = []
  /** The chunks that are being stored, or were when one failed, in order. */
  const unsettled: Promise<ImportOutcome[]>[] = []
  let failure: { error: unknown } | undefined

  function startChunk(): void {
    const [chunk, rest] = splitChunk(gathered)
    gathered = rest
    const previous = running.at(-1)
    const adding = chunk.plants.length === 0 ? Promise.resolve([]) : add(chunk.plants)
    // A rejection is handled below, after the previous chunk.
    adding.catch(() => {})
    unsettled.push(adding)
    const settled = (async () => {
      await previous
      const outcomes = await adding
      unsettled.shift()
      await settle(chunk, outcomes)
    })()
    running.push(settled)
    settled.then(
      () => {
        running.shift()
        // Rows that arrived meanwhile have no other trigger.
        if (running.length === 0 && hasRows(gathered)) startChunk()
      },
      (error: unknown) => {
        if (failure !== undefined) return
        failure = { error }
        onFailure()
      },
    )
  }

  async function firstSettled(): Promise<void> {
    await running[0]
  }

  function throwFailure(): void {
    if (failure !== undefined) throw failure.error
  }

  return {
    async take(rows) {
      throwFailure()
      gathered = joined(gathered, rows)
      while (isFull(gathered)) {
        if (running.length < CHUNKS_RUNNING_MAX) startChunk()
        else await firstSettled()
        throwFailure()
      }
      if (running.length === 0 && hasRows(gathered)) startChunk()
    },
    async end() {
      throwFailure()
      while (running.length > 0 || hasRows(gathered)) {
        if (running.length < CHUNKS_RUNNING_MAX && hasRows(gathered)) startChunk()
        else await firstSettled()
        throwFailure()
      }
    },
    async outcomeOfUnsettled() {
      const mayBeStored = await Promise.all(unsettled.map(mayHaveStored))
      return mayBeStored.includes(true) ? 'unknown' : 'none'
    },
  }
}

async function mayHaveStored(adding: Promise<readonly ImportOutcome[]>): Promise<boolean> {
  try {
    return (await adding).some((outcome) => outcome !== 'kept')
  } catch (error) {
    return writeOutcomeOf(error) !== 'none'
  }
}

function hasRows({ plants, failures }: ImportRows): boolean {
  return plants.length > 0 || failures.length > 0
}

function isFull({ plants, failures, characters }: ImportRows): boolean {
  return (
    plants.length >= IMPORT_CHUNK_PLANTS_MAX ||
    // Failed rows count, too: one of three characters takes hundreds of bytes.
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

/** Splits the gathered rows into a chunk of at most IMPORT_CHUNK_PLANTS_MAX plants and the rest. */
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
