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

/** A faster list shows no sign of loading: it would flicker. */
const SLOW_MS = 500

/**
 * The list of a filter, from `place.at` on. A change of the filter or of `epoch` creates a new list and aborts the
 * requests of the previous one.
 */
export function usePlants(
  client: PlantStoreClient,
  { q, tag, at }: Place,
  epoch: unknown,
): Plants & { isSlow: boolean } {
  const [plants, setPlants] = useState<Plants>({ pages: undefined, shown: 0 })
  /** Whether the new list takes long. */
  const [isSlow, setSlow] = useState(false)
  const [, redraw] = useReducer((count: number) => count + 1, 0)
  const start = useRef(at)
  start.current = at
  useEffect(() => {
    let isShown = false
    const timer = setTimeout(() => setSlow(true), SLOW_MS)
    const filter = { q: q === '' ? undefined : q, tag }
    const pages = new PlantPages({ client, filter, startAt: start.current, onChange: follow })
    function follow() {
      if (isShown) return redraw(undefined)
      if (!pages.isReady) return
      isShown = true
      end()
      setPlants(({ shown }) => ({ pages, shown: shown + 1 }))
    }
    function end() {
      clearTimeout(timer)
      setSlow(false)
    }
    return () => {
      pages.stop()
      end()
    }
  }, [client, q, tag, epoch])
  return { ...plants, isSlow }
}
