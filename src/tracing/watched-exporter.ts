import { type ExportResult, ExportResultCode } from '@opentelemetry/core'
import type { SpanExporter } from '@opentelemetry/sdk-trace'
import type { Logger } from 'pino'

/** The minimum time between two log lines about lost spans. A busy service loses many batches a second. */
const LOG_INTERVAL_MS = 60_000

/**
 * An exporter that logs when the collector rejects spans, and when it accepts them again.
 */
export function createWatchedExporter(exporter: SpanExporter, log: Logger): SpanExporter {
  /** Lost spans that are not logged yet. */
  let lostSpans = 0
  /** Whether the last log line reports a loss. */
  let isLossLogged = false
  let loggedAtMs = Number.NEGATIVE_INFINITY

  function logLoss({ code, error }: ExportResult, spans: number): void {
    if (code === ExportResultCode.SUCCESS) {
      if (!isLossLogged) return
      isLossLogged = false
      log.info({ lostSpans }, 'the trace collector accepts spans again')
    } else {
      lostSpans += spans
      const nowMs = performance.now()
      // Also after a success in between: otherwise every second batch could be a line.
      if (nowMs - loggedAtMs < LOG_INTERVAL_MS) return
      isLossLogged = true
      loggedAtMs = nowMs
      log.warn(
        { lostSpans, reason: reasonOf(error) },
        'the trace collector does not accept spans; they are lost',
      )
    }
    lostSpans = 0
  }

  return {
    export(spans, onResult) {
      exporter.export(spans, (result) => {
        logLoss(result, spans.length)
        onResult(result)
      })
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  }
}

/** The message of an error, or the status of the response. */
function reasonOf(error: (Error & { code?: unknown }) | undefined): string {
  if (typeof error?.code === 'number') return `it responded with status ${error.code}`
  return error?.message ?? 'unknown'
}
