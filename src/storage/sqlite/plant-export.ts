import type { StoredPlant } from '../../plants/plant.ts'
import type { PlantFilter } from '../../plants/plant-store.ts'
import { takeContent } from '../plant-columns.ts'
import type { ExportSource } from '../plant-export.ts'
import { filesMovedError, storageError } from './connection/failure.ts'
import type { PlantColumns } from './searcher/export-reads.ts'
import type { SearchReply, SearchRequest } from './searcher/searcher.ts'
import type { Thread } from './threads/thread.ts'

/** Opens exports, which read in the searcher thread. */
export function createSqliteExportOpening(
  searcher: Thread<SearchRequest, SearchReply>,
  filesMoved: () => boolean,
) {
  let nextKey = 0

  async function call(request: SearchRequest): Promise<Exclude<SearchReply, { failure: string }>> {
    const reply = await searcher.call(request)
    if ('failure' in reply) throw storageError(new Error(reply.failure))
    return reply
  }

  return async function openExport(filter: PlantFilter): Promise<ExportSource> {
    // The export opens the file by its path, where another database may be by now.
    if (filesMoved()) throw filesMovedError()
    const key = nextKey++
    await call({ kind: 'open-export', key, filter })
    return {
      async read() {
        const reply = await call({ kind: 'read-export', key })
        return 'columns' in reply && reply.columns !== undefined ? plantsOf(reply.columns) : undefined
      },
      async close() {
        try {
          await call({ kind: 'close-export', key })
        } catch {
          // A thread that has ended has closed its connections.
        }
      },
    }
  }
}

function plantsOf(columns: PlantColumns): StoredPlant[] {
  const { ids, createdAtMs, updatedAtMs, versions, content } = columns
  const plants: StoredPlant[] = new Array(ids.length)
  for (let at = 0; at < ids.length; at++) {
    const plant: StoredPlant = {
      id: ids[at] as bigint,
      name: '',
      createdAtMs: createdAtMs[at] as number,
      updatedAtMs: updatedAtMs[at] as number,
      version: versions[at] as number,
    }
    takeContent(content, at, plant)
    plants[at] = plant
  }
  return plants
}
