import { type ExportResult, ExportResultCode } from '@opentelemetry/core'
import type { SpanExporter } from '@opentelemetry/sdk-trace'
import type { Logger } from 'pino'

/** How often it is told, at most, that spans are not taken: every batch of a busy service would be a line. */
const TOLD_INTERVAL_MS = 60_000

/** An exporter that tells the log of spans that did not arrive, and of when they arrive again. Else nobody would know. */
export function createWatchedExporter(exporter: SpanExporter, log: Logger): SpanExporter {
  let lostSpans = 0
  let toldAtMs: number | undefined

  function note({ code, error }: ExportResult, spans: number): void {
    if (code === ExportResultCode.SUCCESS) {
      if (toldAtMs !== undefined) log.info('the collector takes traces again')
      toldAtMs = undefined
      lostSpans = 0
      return
    }
    lostSpans += spans
    const nowMs = performance.now()
    if (toldAtMs !== undefined && nowMs - toldAtMs < TOLD_INTERVAL_MS) return
    toldAtMs = nowMs
    log.warn({ lostSpans, reason: reasonOf(error) }, 'the collector does not take traces; they are lost')
    lostSpans = 0
  }

  return {
    export(spans, onResult) {
      exporter.export(spans, (result) => {
        note(result, spans.length)
        onResult(result)
      })
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  }
}

/** The message of an error, or the status that the collector answered with. */
function reasonOf(error: (Error & { code?: unknown }) | undefined): string {
  if (typeof error?.code === 'number') return `it answered with status ${error.code}`
  return error?.message ?? 'unknown'
}
