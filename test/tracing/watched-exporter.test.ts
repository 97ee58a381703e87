import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ExportResult, ExportResultCode } from '@opentelemetry/core'
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace'
import { pino } from 'pino'
import { createWatchedExporter } from '../../src/tracing/watched-exporter.ts'

/** A watched exporter, whose collector accepts or rejects each batch, and its log lines. */
function watchedExporter() {
  const lines: Record<string, unknown>[] = []
  const log = pino({ base: null }, { write: (line) => void lines.push(JSON.parse(line)) })
  let result: ExportResult = { code: ExportResultCode.SUCCESS }
  const collector: SpanExporter = {
    export: (_spans, onResult) => onResult(result),
    shutdown: async () => {},
  }
  const watched = createWatchedExporter(collector, log)
  function send(spans: number, isAccepted: boolean): void {
    result = isAccepted
      ? { code: ExportResultCode.SUCCESS }
      : { code: ExportResultCode.FAILED, error: new Error('no room') }
    watched.export(new Array<ReadableSpan>(spans), () => {})
  }
  return { send, logged: () => lines.map(({ msg, lostSpans }) => [msg, lostSpans]) }
}

const LOST = 'the trace collector does not accept spans; they are lost'
const AGAIN = 'the trace collector accepts spans again'

test('the first lost spans are logged at once, and the rest when spans are accepted again', () => {
  const { send, logged } = watchedExporter()
  send(3, true)
  assert.deepEqual(logged(), [])
  send(3, false)
  send(4, false)
  send(5, false)
  send(3, true)
  send(3, true)
  assert.deepEqual(logged(), [
    [LOST, 3],
    [AGAIN, 9],
  ])
})

test('a collector that accepts every second batch does not cause a line for each', () => {
  const { send, logged } = watchedExporter()
  for (let batch = 0; batch < 100; batch++) send(1, batch % 2 === 1)
  assert.deepEqual(logged(), [
    [LOST, 1],
    [AGAIN, 0],
  ])
})
