import { type ExportResult, ExportResultCode } from '@opentelemetry/core'
import type { SpanExporter } from '@opentelemetry/sdk-trace'
import type { Logger } from 'pino'

/** How often it is told, at most, that spans are not taken: every batch of a busy service would be a line. */
const TOLD_INTERVAL_MS = 60_000

/**
 * An exporter that tells the log of spans that did not arrive, and of when they arrive again. Else nobody would know.
 */
export function createWatchedExporter(exporter: SpanExporter, log: Logger): SpanExporter {
  /** Spans that were lost and not told of yet. */
  let lostSpans = 0
  /** Whether the last line says that spans are lost. */
  let isTold = false
  let toldAtMs = Number.NEGATIVE_INFINITY

  function note({ code, error }: ExportResult, spans: number): void {
    if (code === ExportResultCode.SUCCESS) {
      if (!isTold) return
      isTold = false
      log.info({ lostSpans }, 'the collector takes traces again')
    } else {
      lostSpans += spans
      const nowMs = performance.now()
      // Also where it took some in between: one that takes every other batch would be a line each.
      if (nowMs - toldAtMs < TOLD_INTERVAL_MS) return
      isTold = true
      toldAtMs = nowMs
      log.warn({ lostSpans, reason: reasonOf(error) }, 'the collector does not take traces; they are lost')
    }
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
