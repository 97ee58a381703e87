import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CallInit, describedService } from '../support/described-service.ts'
import { startApp } from '../support/http/start-app.ts'

const ID = '9007199254740993'
const NDJSON = 'application/x-ndjson'
const IN_JSON = { 'content-type': 'application/json' }
const BODY_BYTES_MAX = 1024

/** Declared as well, but it takes time, load, a limit or a broken disk to provoke them. */
const HARD_TO_PROVOKE = [408, 429, 500, 503, 507]

type Case = [operationId: string, target: string, init?: CallInit]

/**
 * A request for each success and for each failure of an operation's own. In order: some need those before.
 */
const CASES: Case[] = [
  ['createPlant', '/plants', json({ id: 1, name: 'Quercus robur', tag: 'tree' })],
  ['createPlant', '/plants', json({ id: 1, name: 'Taken' })],
  ['createPlant', '/plants', json({ id: 2, name: 'Once' }, { 'idempotency-key': 'a' })],
  ['createPlant', '/plants', json({ id: 2, name: 'Once' }, { 'idempotency-key': 'a' })],
  ['createPlant', '/plants', json({ id: 3, name: 'Other' }, { 'idempotency-key': 'a' })],
  ['createPlant', '/plants', json({ id: 4, name: 'No key' }, { 'idempotency-key': '' })],
  ['replacePlant', `/plants/${ID}`, json({ name: 'New' })],
  ['replacePlant', `/plants/${ID}`, json({ name: 'Replaced', tag: 'tree' })],
  ['replacePlant', `/plants/${ID}`, json({ name: 'Not new' }, { 'if-none-match': '*' })],
  ['replacePlant', `/plants/${ID}`, json({ id: 1, name: 'Another id' })],
  ['updatePlant', `/plants/${ID}`, json({ tag: null })],
  ['updatePlant', `/plants/${ID}`, json({ tag: null }, { 'content-type': 'application/merge-patch+json' })],
  ['updatePlant', `/plants/${ID}`, json({ tag: null }, { 'if-match': '"old"' })],
  ['updatePlant', '/plants/7', json({ name: 'Not there' })],
  ['getPlant', `/plants/${ID}`],
  ['getPlant', `/plants/${ID}`, { headers: { 'if-none-match': '*' } }],
  ['getPlant', `/plants/${ID}`, { headers: { 'if-match': '"old"' } }],
  ['getPlant', '/plants/7'],
  ['listPlants', '/plants'],
  ['listPlants', '/plants?limit=1&after=-5&tag=tree&q=querc'],
  ['listPlants', '/plants?limit=1'],
  ['listPlants', '/plants?limit=none'],
  ['listPlants', '/plants', { headers: { accept: 'application/x-ndjson' } }],
  ['listPlants', '/plants', { headers: { accept: 'text/csv' } }],
  ['listPlants', '/plants?limit=1', { headers: { accept: 'text/csv' } }],
  ['importPlants', '/plants/import', text('{"id":5,"name":"In bulk"}\n{}\n', NDJSON)],
  ['importPlants', '/plants/import?columns=id,name', text('6,In bulk\r\n', 'text/csv')],
  ['importPlants', '/plants/import', text('id\n', 'text/csv')],
  ['importPlants', '/plants/import', text('x'.repeat(70_000), 'text/csv')],
  ['importPlants', '/plants/import?onConflict=never', text('id\n', 'text/csv')],
  [
    'importPlants',
    '/plants/import',
    { body: '{"id":5,"name":"Taken"}', headers: { 'content-type': NDJSON, accept: NDJSON } },
  ],
  ['listTags', '/tags?limit=1'],
  ['getNextId', '/next-id'],
  ['countAdditions', '/additions'],
  ['deletePlant', `/plants/${ID}`, { headers: { 'if-match': '"old"' } }],
  ['deletePlant', `/plants/${ID}`],
  ['deletePlant', `/plants/${ID}`],
  ['listTokens', '/tokens'],
  ['getOwnToken', '/tokens/self'],
  ['createToken', '/tokens', json({ scopes: ['none'] })],
  ['rotateToken', '/tokens/unknown/rotate', json({ graceSeconds: 0 })],
  ['rotateOwnToken', '/tokens/self/rotate'],
  ['revokeToken', '/tokens/unknown'],
  ['getMetrics', '/metrics'],
  ['getHealth', '/healthz'],
  ['getReadiness', '/readyz'],
]

test('every response of an operation is declared, and every declared response occurs', async (context) => {
  const app = await startApp(context, { PLANTSTORE_BODY_BYTES_MAX: String(BODY_BYTES_MAX) })
  const { operations, seen, call } = await describedService(app)
  for (const [operationId, target, init] of CASES) await call(operationId, target, init)

  const makeToken = async (scope: string) => {
    const { body } = await call('createToken', '/tokens', json({ label: 'one scope', scopes: [scope] }))
    return body as { id: string; token: string }
  }
  const { id, token } = await makeToken('metrics:read')
  const { token: otherToken } = await makeToken('plants:read')
  for (const { path, operation } of operations) {
    const { operationId, requestBody, security } = operation
    const target = path.replace('{id}', 'x')
    await call(operationId, target, { headers: { 'x-large': 'x'.repeat(17_000) } })
    if (security !== undefined) continue
    await call(operationId, target, { headers: { authorization: '' } })
    await call(operationId, target, { headers: { authorization: 'Bearer unknown' } })
    const lacking = operationId === 'getMetrics' ? otherToken : token
    await call(operationId, target, { headers: { authorization: `Bearer ${lacking}` } })
    await call(operationId, `${path.replace('{id}', '7')}?unknown=1`)
    if (requestBody === undefined) continue
    for (const init of [
      {},
      json([]),
      text('{'),
      text('{}', 'text/plain'),
      text('x'.repeat(BODY_BYTES_MAX + 1)),
    ]) {
      await call(operationId, path.replace('{id}', '7'), init)
    }
  }
  // The token gave itself another secret above.
  await call('rotateOwnToken', '/tokens/self/rotate', { headers: { authorization: `Bearer ${token}` } })
  await call('rotateToken', `/tokens/${id}/rotate`)
  await call('revokeToken', `/tokens/${id}`)

  for (const { operation } of operations) {
    const declared = Object.keys(operation.responses).map(Number)
    // A public operation responds 400 only to what is no HTTP, which `fetch` does not send.
    const hard = operation.security === undefined ? HARD_TO_PROVOKE : [400, ...HARD_TO_PROVOKE]
    const unseen = declared.filter((status) => !seen.get(operation.operationId)?.has(status))
    assert.deepEqual(
      unseen.filter((status) => !hard.includes(status)),
      [],
      operation.operationId,
    )
  }
})

test('the responses of a throttled service are declared, too', async (context) => {
  const { operations, call } = await describedService(
    await startApp(context, { PLANTSTORE_RATE_LIMIT: '1', PLANTSTORE_FAILED_AUTHENTICATIONS_MAX: '1' }),
  )
  const limitless: string[] = []
  for (const { path, operation } of operations) {
    const { operationId, responses } = operation
    if (!('429' in responses)) continue
    const target = path.replace('{id}', '7')
    // Twice in a second, unless the machine is very busy.
    const untilLimited = async (init: CallInit) => {
      for (let tries = 0; tries < 50; tries++) {
        const { response } = await call(operationId, target, init)
        const isTold = response.headers.has('ratelimit-policy')
        assert.ok(isTold || response.status === 401, operationId)
        if (response.status === 429) return
      }
      assert.fail(`${operationId} is not limited`)
    }
    await untilLimited({ headers: { authorization: 'Bearer unknown' } })
    // Those that watch the service are not limited when their token is good.
    const success = responses[200] ?? responses[201] ?? responses[204]
    if (JSON.stringify(success).includes('RateLimit')) await untilLimited({})
    else limitless.push(operationId)
  }
  assert.deepEqual(limitless, [])
})

function json(value: unknown, headers: Record<string, string> = {}): CallInit {
  return { body: JSON.stringify(value), headers: { ...IN_JSON, ...headers } }
}

function text(body: string, contentType = 'application/json'): CallInit {
  return { body, headers: { 'content-type': contentType } }
}
