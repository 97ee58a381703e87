import { useEffect, useReducer, useRef, useState } from 'preact/hooks'
import type { PlantStoreClient } from '../../../src/client/plant-store-client.ts'
import type { Place } from '../session/place.ts'
import { PlantPages } from './plant-pages.ts'

export interface Plants {
  /** The list on the screen: the earlier one until the first answer to the new one is there. */
  pages: PlantPages | undefined
  /** Counts the lists that were on the screen. */
  shown: number
}

/**
 * The list that belongs to a filter, and begins at `place.at` when it is made. It is made anew when the filter or
 * `epoch` changes; answers to the earlier one are cancelled then.
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
