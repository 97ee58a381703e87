import { useEffect, useRef, useState } from 'preact/hooks'
import {
  createImportRun,
  type ImportEnd,
  type ImportRun,
  type ImportStatus,
  INITIAL_STATUS,
  type RunImportOptions,
} from './run.ts'

/** The status on the screen. */
export interface ShownStatus extends ImportStatus {
  /** Rows per second; undefined at the start. */
  perSecond?: number | undefined
}

/** The screen is redrawn at most this often. */
const REDRAW_MS = 100
/** A shorter time gives no reliable rate. */
const RATE_AFTER_MS = 500

/** Runs an import and shows its status. Unmounting aborts it. */
export function useImportRun(onEnd: (end: ImportEnd) => void) {
  const [status, setStatus] = useState<ShownStatus>(INITIAL_STATUS)
  const run = useRef<ImportRun>(undefined)
  const latest = useRef(INITIAL_STATUS)
  const since = useRef({ ms: 0, rows: 0 })
  useEffect(() => () => run.current?.abort(), [])

  function draw() {
    const ms = performance.now() - since.current.ms
    const rows = rowCountOf(latest.current) - since.current.rows
    setStatus({
      ...latest.current,
      perSecond: ms < RATE_AFTER_MS ? undefined : Math.round((rows / ms) * 1_000),
    })
  }
  async function resume() {
    if (run.current === undefined) return
    since.current = { ms: performance.now(), rows: rowCountOf(latest.current) }
    const end = await run.current.resume()
    draw()
    onEnd(end)
  }
  return {
    status,
    resume,
    start(options: Omit<RunImportOptions, 'onChange'>): Promise<void> {
      latest.current = INITIAL_STATUS
      setStatus(INITIAL_STATUS)
      let drawnMs = 0
      run.current = createImportRun({
        ...options,
        onChange(change) {
          const isUrgent = change.isWaiting !== latest.current.isWaiting
          latest.current = change
          if (performance.now() - drawnMs < REDRAW_MS && !isUrgent) return
          drawnMs = performance.now()
          draw()
        },
      })
      return resume()
    },
    stop: () => run.current?.stop(),
    failedRowsFile: () => run.current?.failedRowsFile(),
  }
}

/** The number of processed rows. */
export function rowCountOf({ created, replaced, skipped, failed }: ImportStatus): number {
  return created + replaced + skipped + failed
}
