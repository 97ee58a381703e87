import { errorLine, progressLine } from './import-report.ts'
import type { RowFailure } from './import-rows.ts'
import type { ImportCounts, PlantImportRun } from './run-import.ts'

/** How often progress is told: what people watch moves, and what programs read is short. */
const PROGRESS_INTERVAL_MS = 250

/** Tells of an import while it runs. */
export interface ImportProgress {
  tell: PlantImportRun['tell']
  /** To be called when the import has ended: gives the progress that is yet to be told, as a line, or an empty text. */
  stop(): string
}

/** Sends every refused row as a line, and now and then how far the import is. */
export function createImportProgress(send: (text: string) => Promise<void> | undefined): ImportProgress {
  let toldAtMs = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined
  let latest = ''

  function takeProgress(): string {
    clearTimeout(timer)
    timer = undefined
    toldAtMs = performance.now()
    return latest
  }

  return {
    tell(failures: readonly RowFailure[], counts: Readonly<ImportCounts>, nextLine: number) {
      latest = progressLine(counts, nextLine)
      const waitMs = toldAtMs + PROGRESS_INTERVAL_MS - performance.now()
      const text = failures.map(errorLine).join('') + (waitMs <= 0 ? takeProgress() : '')
      if (waitMs > 0) {
        timer ??= setTimeout(() => {
          // A client that is gone or does not read is noticed with the next rows.
          send(takeProgress())?.catch(() => {})
        }, waitMs)
      }
      return text === '' ? undefined : send(text)
    },
    stop() {
      return timer === undefined ? '' : takeProgress()
    },
  }
}
