import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Histogram, Registry } from 'prom-client'
import { createTalliedHistogram } from '../../src/metrics/tallied-histogram.ts'

test('a tallied histogram reads as one of prom-client that saw the same', async () => {
  const [tallied, plain] = [new Registry(), new Registry()]
  const configuration = {
    name: 'duration_seconds',
    help: 'How long it took',
    labelNames: ['route', 'method'],
    buckets: [0.25, 0.5, 1],
  }
  const start = createTalliedHistogram({ ...configuration, registers: [tallied] })
  const histogram = new Histogram({ ...configuration, registers: [plain] })
  assert.equal(await tallied.metrics(), await plain.metrics())
  const values = { '/a': [0, 0.25, 0.2500001, 0.5, 0.75, 1, 1.5, 30], '/b "quoted"\n': [0.5] }
  for (const [route, seen] of Object.entries(values)) {
    const tally = start({ route, method: 'GET' })
    for (const value of seen) {
      tally.observe(value)
      histogram.observe({ route, method: 'GET' }, value)
    }
  }
  assert.equal(await tallied.metrics(), await plain.metrics())
})
