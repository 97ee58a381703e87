import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readTracing } from '../../src/config/tracing-settings.ts'
import { SetupError } from '../../src/errors.ts'

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }

test('nothing is traced without a collector, or if the variables turn tracing off', () => {
  assert.equal(readTracing({}), undefined)
  assert.equal(readTracing({ OTEL_SERVICE_NAME: 'x' }), undefined)
  assert.equal(readTracing({ ...ENDPOINT, OTEL_SDK_DISABLED: 'true' }), undefined)
  assert.equal(readTracing({ ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }), undefined)
  assert.ok(readTracing(ENDPOINT))
  assert.ok(readTracing({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://collector.example/v1/traces' }))
})

test('sampler and batches follow the variables, else the specification', () => {
  assert.deepEqual(readTracing(ENDPOINT), {
    sampler: undefined,
    ratio: 1,
    scheduledDelayMillis: 5_000,
    exportTimeoutMillis: 30_000,
    maxQueueSize: 2_048,
    maxExportBatchSize: 512,
  })
  const set = readTracing({
    ...ENDPOINT,
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.25',
  })
  assert.deepEqual([set?.sampler, set?.ratio], ['parentbased_traceidratio', 0.25])
})

test('an invalid value stops the start and is named', () => {
  for (const [name, value] of [
    ['OTEL_TRACES_SAMPLER', 'sometimes'],
    ['OTEL_TRACES_SAMPLER_ARG', '2'],
    ['OTEL_TRACES_EXPORTER', 'jaeger'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4317'],
    ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'grpc'],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'collector:4317'],
    ['OTEL_BSP_SCHEDULE_DELAY', 'soon'],
    ['OTEL_BSP_SCHEDULE_DELAY', '-1'],
    // The exporter would send empty batches forever.
    ['OTEL_BSP_MAX_EXPORT_BATCH_SIZE', '0'],
    ['OTEL_BSP_MAX_EXPORT_BATCH_SIZE', '0.5'],
    ['OTEL_BSP_MAX_QUEUE_SIZE', '0'],
    ['OTEL_BSP_EXPORT_TIMEOUT', '0'],
  ] as const) {
    assert.throws(
      () => readTracing({ ...ENDPOINT, [name]: value }),
      (error) => error instanceof SetupError && error.message.startsWith(name),
      name,
    )
  }
})
