import { AppError } from '../errors.ts'
import { BoundedQueue } from '../load/bounded-queue.ts'
import type { StoredPlant } from '../plants/plant.ts'
import type { PlantFilter, PlantStore, ReadOptions } from '../plants/plant-store.ts'

/** One export of an engine: a connection with a snapshot of its own. */
export interface ExportSource {
  /**
   * The next plants, an empty array if none of the rows read matched; undefined at the end. Rejects with an AppError.
   */
  read(): Promise<readonly StoredPlant[] | undefined>
  /** Closes the connection, even during a read. May be called again. */
  close(): Promise<void>
}

export interface PlantExportingOptions {
  /** Opens a snapshot. Rejects with an AppError. */
  open(filter: PlantFilter): Promise<ExportSource>
  /** Exports that may run at once; one more is rejected with 50301. */
  exportsMax: number
}

export interface PlantExporting extends Pick<PlantStore, 'exportPlants'> {
  /** Running exports. */
  running(): number
  /** Closes every running export; its next chunk is rejected with 50302. */
  close(): Promise<void>
}

/** The export methods of a PlantStore, for both engines. */
export function createPlantExporting({ open, exportsMax }: PlantExportingOptions): PlantExporting {
  const sources = new Set<ExportSource>()
  // None is queued: an export may take hours.
  const queue = new BoundedQueue({
    slots: exportsMax,
    queuedMax: 0,
    overloaded: new AppError(50301, 'Too many exports are running. Retry when one has ended.', {
      reason: 'exports',
    }),
  })
  let isClosed = false

  function checkOpen(): void {
    if (isClosed) throw new AppError(50302, 'The storage is closed.')
  }

  async function* chunks(
    filter: PlantFilter,
    options: ReadOptions | undefined,
  ): AsyncGenerator<readonly StoredPlant[], undefined> {
    checkOpen()
    const releaseSlot = await queue.takeSlot(options)
    let source: ExportSource | undefined
    try {
      source = await open(filter)
      sources.add(source)
      yield* chunksOf(source)
      return undefined
    } finally {
      if (source !== undefined) {
        sources.delete(source)
        await source.close()
      }
      releaseSlot()
    }
  }

  async function* chunksOf(source: ExportSource): AsyncGenerator<readonly StoredPlant[], undefined> {
    checkOpen()
    let next = source.read()
    for (;;) {
      const plants = await next
      if (plants === undefined) return undefined
      checkOpen()
      // Read while the consumer works on the previous chunk.
      next = source.read()
      next.catch(() => {
        // Thrown when the chunk is requested.
      })
      if (plants.length > 0) yield plants
    }
  }

  return {
    exportPlants: (filter, options) => ({ [Symbol.asyncIterator]: () => chunks(filter, options) }),
    running: () => queue.running,
    async close() {
      isClosed = true
      await Promise.all([...sources].map((source) => source.close()))
    },
  }
}
