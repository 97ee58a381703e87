import { useEffect, useRef, useState } from 'preact/hooks'
import {
  createImportRun,
  type ImportAnnouncement,
  type ImportEnd,
  type ImportRun,
  NOTHING_ANNOUNCED,
  type RunImportOptions,
} from './import-run.ts'

/** What is on the screen. */
export interface DrawnProgress extends ImportAnnouncement {
  /** Rows a second, as soon as they can be told. */
  perSecond?: number | undefined
}

/** The screen is drawn anew no more often. */
const REDRAW_MS = 100
/** Too short a time tells no rate. */
const RATE_AFTER_MS = 500

/** An import and how far it is, on a screen. It ends when the screen goes. */
export function useImportRun(onEnd: (end: ImportEnd) => void) {
  const [told, setTold] = useState<DrawnProgress>(NOTHING_ANNOUNCED)
  const run = useRef<ImportRun>(undefined)
  const latest = useRef(NOTHING_ANNOUNCED)
  const since = useRef({ ms: 0, rows: 0 })
  useEffect(() => () => run.current?.abort(), [])

  function draw() {
    const ms = performance.now() - since.current.ms
    const rows = rowCountOf(latest.current) - since.current.rows
    setTold({
      ...latest.current,
      perSecond: ms < RATE_AFTER_MS ? undefined : Math.round((rows / ms) * 1_000),
    })
  }
  async function go() {
    if (run.current === undefined) return
    since.current = { ms: performance.now(), rows: rowCountOf(latest.current) }
    const end = await run.current.go()
    draw()
    onEnd(end)
  }
  return {
    told,
    go,
    start(parts: Omit<RunImportOptions, 'onChange'>): Promise<void> {
      latest.current = NOTHING_ANNOUNCED
      setTold(NOTHING_ANNOUNCED)
      let drawnMs = 0
      run.current = createImportRun({
        ...parts,
        onChange(change) {
          const isOther = change.isWaiting !== latest.current.isWaiting
          latest.current = change
          if (performance.now() - drawnMs < REDRAW_MS && !isOther) return
          drawnMs = performance.now()
          draw()
        },
      })
      return go()
    },
    stop: () => run.current?.stop(),
    refusedFile: () => run.current?.refusedFile(),
  }
}

/** How many rows are settled. */
export function rowCountOf({ created, replaced, skipped, failed }: ImportAnnouncement): number {
  return created + replaced + skipped + failed
}
