import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { metricsOf, sumOf } from '../support/metrics-text.ts'
import { startApp } from '../support/start-app.ts'

test('refusals for overload are counted by what there was too much of, and summed up in the log', async (test) => {
  const app = await startApp(test, { PLANTSTORE_QUEUED_WRITES_MAX: '1' })
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, id) => app.send('POST', '/plants', `{"id":${id},"name":"a"}`)),
  )
  const refused = answers.filter(({ status }) => status === 503)
  assert.ok(refused.length > 2, String(refused.length))
  for (const { headers } of refused) assert.equal(headers.get('retry-after'), '1')

  const lines = () => app.log.filter(({ msg }) => msg === 'overloaded')
  const summedUp = () =>
    lines().reduce((sum, line) => sum + Number((line.refused as Record<string, number>)['queued-writes']), 0)
  await eventually(() => summedUp() === refused.length)
  assert.ok(lines().length < refused.length, JSON.stringify(lines()))
  assert.ok(lines().every(({ level, error }) => level === 50 && error === 50301))
  assert.equal(app.log.filter(({ requestId }) => requestId !== undefined).length, 0)

  const labels = { error: '50301', reason: 'too many writes queued' }
  assert.equal(sumOf(await metricsOf(app), 'plantstore_refusals_total', labels), refused.length)
})
