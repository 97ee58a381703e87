import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PlantStoreClient } from '../../src/client/plant-store-client.ts'
import { ERRORS, type WriteOutcome } from '../../src/errors.ts'
import { failureOf } from './failure-of.ts'
import { response, startScript, type Turn } from './scripted-server.ts'

// A conditional write that was applied fails its own condition the second time. So it is sent again only when the
// response says that nothing was stored.

const STORED =
  '{"id":1,"name":"Rosa","createdAt":"2026-04-01T08:30:00.000Z","updatedAt":"2026-04-01T08:30:00.000Z"}'
const CONDITION = { ifMatch: '"0"' }

const CONDITIONAL_WRITES: Record<string, [(client: PlantStoreClient) => Promise<unknown>, Turn]> = {
  replace: [
    (client) => client.replacePlant(1n, { name: 'Rosa' }, CONDITION),
    response(200, STORED, { etag: '"1"' }),
  ],
  update: [
    (client) => client.updatePlant(1n, { name: 'Rosa' }, CONDITION),
    response(200, STORED, { etag: '"1"' }),
  ],
  delete: [(client) => client.deletePlant(1n, CONDITION), (response) => void response.writeHead(204).end()],
}

/** Whether it is sent again, and whether a failure leaves its outcome unknown: by code and outcome in the details. */
type Row = [code: number, outcome: WriteOutcome | undefined, isRetried: boolean, isOutcomeUnknown: boolean]

const RETRY_TABLE: Row[] = [
  [50001, undefined, false, true],
  [50001, 'unknown', false, true],
  [50001, 'none', false, false],
  [50301, undefined, true, false],
  [50301, 'unknown', false, true],
  [50301, 'none', true, false],
  [50302, undefined, false, true],
  [50302, 'unknown', false, true],
  [50302, 'none', true, false],
  [50303, undefined, true, false],
  [50303, 'unknown', false, true],
  [50303, 'none', true, false],
  [50701, undefined, false, false],
  [50701, 'unknown', false, true],
  [50701, 'none', false, false],
]

const GATEWAY_STATUSES = [500, 501, 502, 503, 504, 507, 520]

test('the retry table has every 5xx code', () => {
  const codes = Object.keys(ERRORS).map(Number)
  assert.deepEqual(
    [...new Set(RETRY_TABLE.map(([code]) => code))],
    codes.filter((code) => code >= 50000),
  )
})

for (const [name, [call, success]] of Object.entries(CONDITIONAL_WRITES)) {
  test(`a conditional ${name} is retried only if the service says that nothing was stored`, async (t) => {
    for (const [code, outcome, isRetried, isOutcomeUnknown] of RETRY_TABLE) {
      const label = `${code} ${outcome}`
      const details = outcome === undefined ? {} : { details: { outcome } }
      const json = JSON.stringify({ error: code, message: 'It failed.', ...details })
      const failure = response(Math.trunc(code / 100), json, { 'retry-after': '0' })
      const { client, requests } = await startScript(t, [failure, success])
      if (isRetried) await call(client())
      else assert.equal((await failureOf(call(client()))).isOutcomeUnknown, isOutcomeUnknown, label)
      assert.equal(requests.length, isRetried ? 2 : 1, label)
    }
  })

  test(`a conditional ${name} is not retried after the response of a gateway`, async (t) => {
    for (const status of GATEWAY_STATUSES) {
      const { client, requests } = await startScript(t, [response(status, '<h1>Error</h1>'), success])
      assert.equal((await failureOf(call(client()))).isOutcomeUnknown, true, `${status}`)
      assert.equal(requests.length, 1, `${status}`)
    }
  })
}
