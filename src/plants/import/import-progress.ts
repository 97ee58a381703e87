import { errorLine, progressLine } from './import-report.ts'
import type { RowFailure } from './import-rows.ts'
import type { ImportCounts, PlantImportRun } from './run-import.ts'

/** Time between two progress lines: short enough for a progress bar, long enough for a small response. */
const PROGRESS_INTERVAL_MS = 250

/** Reports an import while it runs. */
export interface ImportProgress {
  onSettled: PlantImportRun['onSettled']
  /** Call it at the end of the import. Returns the pending progress line, or an empty text. */
  stop(): string
}

/** Sends every failed row as a line, and a progress line each PROGRESS_INTERVAL_MS at most. */
export function createImportProgress(send: (text: string) => Promise<void> | undefined): ImportProgress {
  let sentAtMs = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined
  let latest = ''

  function takeProgress(): string {
    clearTimeout(timer)
    timer = undefined
    sentAtMs = performance.now()
    return latest
  }

  return {
    onSettled(failures: readonly RowFailure[], counts: Readonly<ImportCounts>, nextLine: number) {
      latest = progressLine(counts, nextLine)
      const waitMs = sentAtMs + PROGRESS_INTERVAL_MS - performance.now()
      const text = failures.map(errorLine).join('') + (waitMs <= 0 ? takeProgress() : '')
      if (waitMs > 0) {
        timer ??= setTimeout(() => {
          // A failure to send is thrown with the next rows.
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
