import { useEffect, useReducer, useRef, useState } from 'preact/hooks'
import type { PlantStoreClient } from '../../../src/client/plant-store-client.ts'
import type { Place } from '../session/place.ts'
import { PlantPages } from './pages.ts'

export interface Plants {
  /** The list on the screen. The previous list stays until the new one has its first page. */
  pages: PlantPages | undefined
  /** The number of lists shown so far. */
  shown: number
}

/**
 * The list of a filter, from `place.at` on. A change of the filter or of `epoch` creates a new list and aborts the
 * requests of the previous one.
 */
export function usePlants(client: PlantStoreClient, { q, tag, at }: Place, epoch: unknown): Plants {
  const [plants, setPlants] = useState<Plants>({ pages: undefined, shown: 0 })
  const [, redraw] = useReducer((count: number) => count + 1, 0)
  const start = useRef(at)
  start.current = at
  useEffect(() => {
    let isShown = false
    const filter = { q: q === '' ? undefined : q, tag }
    const pages = new PlantPages({ client, filter, startAt: start.current, onChange: follow })
    function follow() {
      if (isShown) return redraw(undefined)
      if (!pages.isReady) return
      isShown = true
      setPlants(({ shown }) => ({ pages, shown: shown + 1 }))
    }
    return () => pages.stop()
  }, [client, q, tag, epoch])
  return plants
}
