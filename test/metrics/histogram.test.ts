import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as promClient from 'prom-client'
import { createHistogram } from '../../src/metrics/histogram.ts'

test('a histogram has the text of one of prom-client that counted the same values', async () => {
  const options = { name: 'duration_seconds', help: 'Duration', buckets: [0.25, 0.5, 1] }
  const registry = new promClient.Registry()
  const ours = createHistogram(options)
  const theirs = new promClient.Histogram({
    ...options,
    labelNames: ['route', 'method'],
    registers: [registry],
  })
  assert.equal(ours.text(), await registry.metrics())
  const values = { '/a': [0, 0.25, 0.2500001, 0.5, 0.75, 1, 1.5, 30], '/b "quoted"\n\\': [0.5] }
  for (const [route, seen] of Object.entries(values)) {
    const series = ours.addSeries({ route, method: 'GET' })
    for (const value of seen) {
      series.observe(value)
      theirs.observe({ route, method: 'GET' }, value)
    }
  }
  assert.equal(ours.text(), await registry.metrics())
})
