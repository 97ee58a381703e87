import { AppError } from '../errors.ts'
import type { StoredPlant } from '../plants/plant.ts'
import type { PlantFilter, PlantStore } from '../plants/plant-store.ts'

/** One export of an engine: a connection with a snapshot of its own. */
export interface ExportSource {
  /** The next plants, none when it only looked further; undefined at the end. Rejects with an AppError. */
  read(): Promise<readonly StoredPlant[] | undefined>
  /** Lets go of the connection, whatever is under way on it. May be called again. */
  close(): Promise<void>
}

export interface PlantExportingOptions {
  /** Opens a snapshot. Rejects with an AppError. */
  open(filter: PlantFilter): Promise<ExportSource>
  /** Exports that may be under way at once; one more is refused with 50301. */
  exportsMax: number
}

export interface PlantExporting extends Pick<PlantStore, 'exportPlants'> {
  /** Exports that are under way now. */
  underWay(): number
  /** Lets go of every export that is under way; what asks for a step afterwards is refused with 50302. */
  close(): Promise<void>
}

/** The exporting part of a PlantStore, the same on every engine. */
export function createPlantExporting({ open, exportsMax }: PlantExportingOptions): PlantExporting {
  const sources = new Set<ExportSource>()
  let underWay = 0
  let isClosed = false

  function checkOpen(): void {
    if (isClosed) throw new AppError(50302, 'The storage is closed.')
  }

  async function* steps(filter: PlantFilter): AsyncGenerator<readonly StoredPlant[], undefined> {
    checkOpen()
    if (underWay >= exportsMax) {
      throw new AppError(50301, 'Too many exports are under way; try again when one has ended.', {
        reason: 'exports',
      })
    }
    underWay++
    let source: ExportSource | undefined
    try {
      source = await open(filter)
      sources.add(source)
      yield* stepsOf(source)
      return undefined
    } finally {
      if (source !== undefined) {
        sources.delete(source)
        await source.close()
      }
      underWay--
    }
  }

  async function* stepsOf(source: ExportSource): AsyncGenerator<readonly StoredPlant[], undefined> {
    checkOpen()
    let next = source.read()
    for (;;) {
      const plants = await next
      if (plants === undefined) return undefined
      checkOpen()
      // Read while the consumer works on the one before it.
      next = source.read()
      next.catch(() => {
        // Told when the step is asked for, if it ever is.
      })
      if (plants.length > 0) yield plants
    }
  }

  return {
    exportPlants: (filter) => ({ [Symbol.asyncIterator]: () => steps(filter) }),
    underWay: () => underWay,
    async close() {
      isClosed = true
      await Promise.all([...sources].map((source) => source.close()))
    },
  }
}
