import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { createPlantStoreClient, RequestError } from '../../src/client/plant-store-client.ts'
import { eventually } from '../support/eventually.ts'
import { findFreePort } from '../support/free-port.ts'
import { failureOf } from './failure-of.ts'
import { dropConnection, reject, response, stall, startScript } from './scripted-server.ts'

const PLANT = { id: 1n, name: 'a' }
const CREATED = response(200, '{"name":"a"}', { etag: '"1"' })

test('a request times out if the service does not respond', async (context) => {
  const { client, requests } = await startScript(context, [stall])
  const beginMs = performance.now()
  const error = await failureOf(client().createPlant(PLANT, { timeoutMs: 300 }))
  const tookMs = performance.now() - beginMs
  assert.ok(tookMs >= 290 && tookMs < 2_000, `${tookMs} ms`)
  assert.deepEqual([error.kind, error.message], ['timeout', 'No response within 300 ms'])
  assert.equal(error.isOutcomeUnknown, true)
  assert.match(error.idempotencyKey ?? '', /^\d+(-\d+){3}$/)
  assert.equal(requests.length, 1)
})

test('the timeout covers all tries together', async (context) => {
  const { client } = await startScript(context, [dropConnection, stall])
  const beginMs = performance.now()
  const error = await failureOf(client({ timeoutMs: 600 }).getPlant(1n))
  assert.ok(performance.now() - beginMs < 2_000)
  assert.deepEqual([error.kind, error.isOutcomeUnknown], ['timeout', false])
})

test('without a timeout a request waits for its response', async (context) => {
  const { client } = await startScript(context, [
    (response, request) => void setTimeout(() => CREATED(response, request), 100),
  ])
  await client({ timeoutMs: Number.POSITIVE_INFINITY }).createPlant(PLANT)
})

test('a signal aborts a running request, a wait for the next try, and a call before it begins', async (context) => {
  for (const turn of [stall, reject(503, 50301, { 'retry-after': '5' })]) {
    const { client, requests } = await startScript(context, [turn])
    const controller = new AbortController()
    const reason = new Error('no longer wanted')
    const call = client().createPlant(PLANT, { signal: controller.signal })
    await eventually(() => requests.length === 1)
    setTimeout(() => controller.abort(reason), 50)
    await assert.rejects(call, (error) => error === reason)
    assert.equal(getEventListeners(controller.signal, 'abort').length, 0)
    await assert.rejects(client().getPlant(1n, { signal: controller.signal }), (error) => error === reason)
    assert.equal(requests.length, 1)
  }
})

test('a wait for a token times out, too, and the outcome of a write that was not sent is known', async (context) => {
  const { client, requests } = await startScript(context, [dropConnection])
  const never = () => new Promise<string>(() => undefined)
  const waiting = client({ token: never, timeoutMs: 100 })
  for (const call of [waiting.getPlant(1n), waiting.createPlant(PLANT), waiting.importPlants([PLANT])]) {
    const error = await failureOf(call)
    assert.deepEqual([error.kind, error.isOutcomeUnknown], ['timeout', false])
  }
  await assert.rejects(waiting.exportPlants({ format: 'csv' }), RequestError)
  const controller = new AbortController()
  const reason = new Error('no longer wanted')
  const call = client({ token: never }).createPlant(PLANT, { signal: controller.signal })
  setTimeout(() => controller.abort(reason), 50)
  await assert.rejects(call, (error) => error === reason)
  assert.equal(requests.length, 0)
  let asked = 0
  const once = client({ token: () => (asked++ === 0 ? 'a' : never()), timeoutMs: 1_000 })
  const error = await failureOf(once.createPlant(PLANT))
  assert.deepEqual([error.kind, error.isOutcomeUnknown, asked], ['timeout', true, 2])
})

test('a signal that outlives many calls accumulates no listeners', async (context) => {
  const { client } = await startScript(context, [reject(404, 40402)])
  const { signal } = new AbortController()
  for (let count = 0; count < 5; count++) await client().getPlant(1n, { signal })
  assert.equal(getEventListeners(signal, 'abort').length, 0)
})

test('concurrent calls with one signal add one listener to it, and are all aborted by it', async (context) => {
  const { client, requests } = await startScript(context, [CREATED, stall])
  const controller = new AbortController()
  const { signal } = controller
  await client().createPlant(PLANT, { signal })
  const reason = new Error('no longer wanted')
  const calls = Array.from({ length: 20 }, () => client().getPlant(1n, { signal }))
  const settled = Promise.allSettled(calls)
  await eventually(() => requests.length === 21)
  assert.equal(getEventListeners(signal, 'abort').length, 1)
  controller.abort(reason)
  for (const outcome of await settled) assert.equal(outcome.status === 'rejected' && outcome.reason, reason)
  assert.equal(getEventListeners(signal, 'abort').length, 0)
})

test('the error says where the client tried to connect if no server listens there', async () => {
  const baseUrl = `http://127.0.0.1:${await findFreePort()}`
  const error = await failureOf(createPlantStoreClient({ baseUrl, triesMax: 2 }).getPlant(1n))
  assert.equal(error.kind, 'connection')
  assert.match(error.message, new RegExp(`^The connection to ${baseUrl} failed: .*ECONNREFUSED`))
})

test('a response of another program is reported as such, whatever its status', async (context) => {
  const page = '<!doctype html><title>Sign in</title>'
  const headers = { 'content-type': 'text/html', 'x-request-id': 'of-the-proxy' }
  for (const [status, body] of [
    [200, page],
    [200, '[]'],
    [200, '{"name":"a"'],
    [204, ''],
    [403, page],
    [404, '{"error":"Not Found","message":"Route not found"}'],
    [500, '"text"'],
  ] as const) {
    const { client, requests } = await startScript(context, [response(status, body, headers)])
    for (const call of [client().getPlant(1n), client().createPlant(PLANT), client().updatePlant(1n, {})]) {
      const error = await failureOf(call)
      assert.deepEqual([error.kind, error.code, error.status], ['response', undefined, status], body)
      assert.equal(error.requestId, 'of-the-proxy')
      assert.match(error.message, /^The response is not from the service: /)
      assert.doesNotMatch(error.message, /Sign in/)
    }
    assert.equal(requests.length, 3)
  }
})

test('the outcome of a write is unknown if its successful response cannot be read', async (context) => {
  for (const status of [200, 201, 204]) {
    for (const body of ['<!doctype html><title>Sign in</title>', '', '[]']) {
      const { client, requests } = await startScript(context, [response(status, body)])
      for (const call of [
        client().createPlant(PLANT),
        client().replacePlant(1n, PLANT),
        client().replacePlant(1n, PLANT, { ifMatch: '"1"' }),
        client().updatePlant(1n, {}),
        client().updatePlant(1n, {}, { ifMatch: '"1"' }),
        client().createToken({ scopes: [] }),
        client().importPlants([PLANT]),
      ]) {
        const error = await failureOf(call)
        assert.deepEqual([error.kind, error.status, error.isOutcomeUnknown], ['response', status, true])
      }
      assert.equal(requests.length, 7, 'none is sent again')
      assert.equal(requests.filter((request) => request.path === '/plants').length, 1)
      for (const call of [client().getPlant(1n), client().importPlants([PLANT], { dryRun: true })])
        assert.equal((await failureOf(call)).isOutcomeUnknown, false)
    }
  }
})

test('a successful response of another kind fails: a page is not a deletion, nor a list', async (context) => {
  const { client } = await startScript(context, [response(200, '{}')])
  assert.equal((await failureOf(client().deletePlant(1n))).kind, 'response')
  assert.equal((await failureOf(client().listTags())).kind, 'response')
  const list = client().listPlants()[Symbol.asyncIterator]()
  assert.equal((await failureOf(list.next())).kind, 'response')
})

test('redirects are not followed, as a POST would become a GET and the token could leak', async (context) => {
  const { client, requests, url } = await startScript(context, [
    response(301, '', { location: '/elsewhere' }),
    CREATED,
  ])
  const error = await failureOf(client().createPlant(PLANT))
  assert.deepEqual([error.kind, error.status], ['response', 301])
  assert.match(error.message, /a redirect to \/elsewhere\. Check the base URL/)
  assert.equal(requests.length, 1, url)
})

test('no error contains the token', async (context) => {
  const { client } = await startScript(context, [dropConnection, stall])
  const { inspect } = await import('node:util')
  const error = await failureOf(client({ token: 'plst_hidden', triesMax: 1 }).createPlant(PLANT))
  assert.doesNotMatch(inspect(error, { depth: 10, showHidden: true }), /plst_hidden/)
})
