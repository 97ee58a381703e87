import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ExportResult, ExportResultCode } from '@opentelemetry/core'
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace'
import { pino } from 'pino'
import { createWatchedExporter } from '../../src/tracing/watched-exporter.ts'

/** An exporter that is watched, of a collector that takes a batch or does not, and what the log has of it. */
function watchedExporter() {
  const lines: Record<string, unknown>[] = []
  const log = pino({ base: null }, { write: (line) => void lines.push(JSON.parse(line)) })
  let result: ExportResult = { code: ExportResultCode.SUCCESS }
  const collector: SpanExporter = {
    export: (_spans, onResult) => onResult(result),
    shutdown: async () => {},
  }
  const watched = createWatchedExporter(collector, log)
  function send(spans: number, isTaken: boolean): void {
    result = isTaken
      ? { code: ExportResultCode.SUCCESS }
      : { code: ExportResultCode.FAILED, error: new Error('no room') }
    watched.export(new Array<ReadableSpan>(spans), () => {})
  }
  return { send, told: () => lines.map(({ msg, lostSpans }) => [msg, lostSpans]) }
}

const LOST = 'the trace collector does not accept spans; they are lost'
const AGAIN = 'the trace collector accepts spans again'

test('spans that are lost are told of at once, and the others with the end of it', () => {
  const { send, told } = watchedExporter()
  send(3, true)
  assert.deepEqual(told(), [])
  send(3, false)
  send(4, false)
  send(5, false)
  send(3, true)
  send(3, true)
  assert.deepEqual(told(), [
    [LOST, 3],
    [AGAIN, 9],
  ])
})

test('a collector that takes every other batch leaves no line for each', () => {
  const { send, told } = watchedExporter()
  for (let batch = 0; batch < 100; batch++) send(1, batch % 2 === 1)
  assert.deepEqual(told(), [
    [LOST, 1],
    [AGAIN, 0],
  ])
})
