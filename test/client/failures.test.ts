import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { createPlantStoreClient, RequestError } from '../../src/client/plant-store-client.ts'
import { eventually } from '../support/eventually.ts'
import { findFreePort } from '../support/free-port.ts'
import { failureOf } from './failure-of.ts'
import { hangUp, refuse, response, stall, startScript } from './scripted-server.ts'

const PLANT = { id: 1n, name: 'a' }
const CREATED = response(200, '{"name":"a"}', { etag: '"1"' })

test('a service that does not response is given up when the time is over', async (context) => {
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

test('the time is that of all tries together', async (context) => {
  const { client } = await startScript(context, [hangUp, stall])
  const beginMs = performance.now()
  const error = await failureOf(client({ timeoutMs: 600 }).getPlant(1n))
  assert.ok(performance.now() - beginMs < 2_000)
  assert.deepEqual([error.kind, error.isOutcomeUnknown], ['timeout', false])
})

test('without a limit of time it is waited for', async (context) => {
  const { client } = await startScript(context, [
    (response, request) => void setTimeout(() => CREATED(response, request), 100),
  ])
  await client({ timeoutMs: Number.POSITIVE_INFINITY }).createPlant(PLANT)
})

test('a signal ends a request on its way, a wait for the next try, and a call before it begins', async (context) => {
  for (const turn of [stall, refuse(503, 50301, { 'retry-after': '5' })]) {
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

test('a token that never comes is given up as a response is, and of a write that was not sent nothing is unknown', async (context) => {
  const { client, requests } = await startScript(context, [hangUp])
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

test('a signal that outlives many calls gathers no listeners', async (context) => {
  const { client } = await startScript(context, [refuse(404, 40402)])
  const { signal } = new AbortController()
  for (let count = 0; count < 5; count++) await client().getPlant(1n, { signal })
  assert.equal(getEventListeners(signal, 'abort').length, 0)
})

test('many calls at a time that share a signal give it one listener, and all of them end with it', async (context) => {
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

test('where nothing listens, the error says so and names the place', async () => {
  const baseUrl = `http://127.0.0.1:${await findFreePort()}`
  const error = await failureOf(createPlantStoreClient({ baseUrl, triesMax: 2 }).getPlant(1n))
  assert.equal(error.kind, 'connection')
  assert.match(error.message, new RegExp(`^The connection to ${baseUrl} failed: .*ECONNREFUSED`))
})

test('a response that is not one of the service is told as that, whatever its status', async (context) => {
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

test('a success that cannot be read leaves open whether the write was done', async (context) => {
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

test('success of another kind is none: a page is no deletion, and no list', async (context) => {
  const { client } = await startScript(context, [response(200, '{}')])
  assert.equal((await failureOf(client().deletePlant(1n))).kind, 'response')
  assert.equal((await failureOf(client().listTags())).kind, 'response')
  const list = client().listPlants()[Symbol.asyncIterator]()
  assert.equal((await failureOf(list.next())).kind, 'response')
})

test('a redirect is not followed: a POST would become a GET, and the token go astray', async (context) => {
  const { client, requests, url } = await startScript(context, [
    response(301, '', { location: '/elsewhere' }),
    CREATED,
  ])
  const error = await failureOf(client().createPlant(PLANT))
  assert.deepEqual([error.kind, error.status], ['response', 301])
  assert.match(error.message, /a redirect to \/elsewhere\. Check the base URL/)
  assert.equal(requests.length, 1, url)
})

test('nothing that is thrown holds the token', async (context) => {
  const { client } = await startScript(context, [hangUp, stall])
  const { inspect } = await import('node:util')
  const error = await failureOf(client({ token: 'plst_hidden', triesMax: 1 }).createPlant(PLANT))
  assert.doesNotMatch(inspect(error, { depth: 10, showHidden: true }), /plst_hidden/)
})
