import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertErrorResponse } from '../../support/http/error-body.ts'
import { exchange } from '../../support/http/raw-http.ts'
import { startAlteredApp } from '../../support/http/start-altered-app.ts'
import { emptyDatabase, startApp, TOKEN } from '../../support/http/start-app.ts'

// The Idempotency-Key of POST /plants.

const app = await startApp({ after })

const create = (json: string, key: string, headers: Record<string, string> = {}) =>
  app.send('POST', '/plants', json, { 'idempotency-key': key, ...headers })

/** The parts of a response that a retry must repeat. */
async function repeated(response: Response) {
  const { status, headers } = response
  const fields = ['location', 'etag', 'content-type'].map((name) => headers.get(name))
  return { status, fields, text: await response.text() }
}

test('the same key and body get the same response and create nothing more', async () => {
  const first = await repeated(await create('{"id":1,"name":"a","tag":"b"}', '"key-1"'))
  assert.equal(first.status, 200)
  assert.deepEqual(await repeated(await create('{"id":1,"name":"a","tag":"b"}', '"key-1"')), first)
  assert.deepEqual(
    await repeated(await create('{ "tag":"\\u0062", "name":"a", "id":1.0 }', '"key-1"')),
    first,
    'otherwise written',
  )
  assert.deepEqual(
    await repeated(await create('{"id":1,"name":"a","tag":"b"}', 'key-1')),
    first,
    'without quotation marks',
  )
})

test('the response stays the same after the plant is updated or deleted', async () => {
  const first = await repeated(await create('{"id":2,"name":"a"}', 'key-2'))
  await app.send('PUT', '/plants/2', '{"name":"changed"}')
  assert.deepEqual(await repeated(await create('{"id":2,"name":"a"}', 'key-2')), first)
  await app.fetch('/plants/2', { method: 'DELETE' })
  assert.deepEqual(await repeated(await create('{"id":2,"name":"a"}', 'key-2')), first)
  await assertErrorResponse(await app.fetch('/plants/2'), 404, 40402)
})

test('a key that was used with another body is rejected and creates nothing', async () => {
  await create('{"id":3,"name":"a"}', 'key-3')
  for (const json of ['{"id":3,"name":"b"}', '{"id":4,"name":"a"}', '{"id":3,"name":"a","tag":""}']) {
    await assertErrorResponse(await create(json, 'key-3'), 400, 42201)
  }
  await assertErrorResponse(await app.fetch('/plants/4'), 404, 40402)
})

test('a rejected create does not use its key', async () => {
  await app.send('POST', '/plants', '{"id":5,"name":"taken"}')
  await assertErrorResponse(await create('{"id":5,"name":"a"}', 'key-5'), 400, 40901)
  await assertErrorResponse(await create('{"id":"6"}', 'key-5'), 400, 40003)
  assert.equal((await create('{"id":6,"name":"a"}', 'key-5')).status, 200)
})

test('each caller has its own keys', async () => {
  const made = await app.send('POST', '/tokens', '{"scopes":["plants:write"]}')
  const { token } = (await made.json()) as { token: string }
  const other = { authorization: `Bearer ${token}` }
  await create('{"id":7,"name":"a"}', 'key-7')
  await assertErrorResponse(await create('{"id":7,"name":"a"}', 'key-7', other), 400, 40901)
  assert.equal((await create('{"id":8,"name":"a"}', 'key-7', other)).status, 200)
})

test('of concurrent requests with one key each gets the response or 40902', async () => {
  const json = '{"id":9,"name":"a"}'
  const responses = await Promise.all(Array.from({ length: 10 }, () => create(json, 'key-9')))
  assert.ok(responses.some(({ status }) => status === 200))
  for (const response of responses) {
    if (response.status === 200) assert.equal(await response.text(), '{"name":"a"}')
    else await assertErrorResponse(response, 400, 40902)
  }
})

test('creates of two callers with the same key run concurrently, and both succeed', async (test) => {
  const bothArrived = Promise.withResolvers<void>()
  let arrived = 0
  const altered = await startAlteredApp(test, {
    storage: (real) => ({
      ...real,
      plants: {
        ...real.plants,
        async create(...parameters) {
          if (++arrived === 2) bothArrived.resolve()
          await bothArrived.promise
          return real.plants.create(...parameters)
        },
      },
    }),
  })
  const post = (path: string, json: string, headers: Record<string, string>) =>
    altered.fetch(path, {
      method: 'POST',
      body: json,
      headers: { 'content-type': 'application/json', ...headers },
    })
  const made = await post('/tokens', '{"scopes":["plants:write"]}', {})
  const { token } = (await made.json()) as { token: string }
  const key = { 'idempotency-key': 'key' }
  const rejected = (response: Response) => {
    if (response.status !== 200) bothArrived.resolve()
    return response
  }
  const responses = await Promise.all([
    post('/plants', '{"id":1,"name":"a"}', key).then(rejected),
    post('/plants', '{"id":2,"name":"a"}', { ...key, authorization: `Bearer ${token}` }).then(rejected),
  ])
  assert.deepEqual(
    responses.map(({ status }) => status),
    [200, 200],
  )
})

test('a key survives a restart', async (test) => {
  const settings = { PLANTSTORE_DATABASE: await emptyDatabase(test) }
  const first = await startApp(test, settings)
  const retry = { 'idempotency-key': 'key' }
  const response = await repeated(await first.send('POST', '/plants', '{"id":1,"name":"a"}', retry))
  await first.stop()
  const second = await startApp(test, settings)
  assert.deepEqual(
    await repeated(await second.send('POST', '/plants', '{"id":1,"name":"a"}', retry)),
    response,
  )
})

test('a key expires after the configured time', async (test) => {
  const forgetful = await startApp(test, { PLANTSTORE_IDEMPOTENCY_TTL_MS: '1000' })
  const retry = { 'idempotency-key': 'key' }
  assert.equal((await forgetful.send('POST', '/plants', '{"id":1,"name":"a"}', retry)).status, 200)
  await new Promise((resolve) => setTimeout(resolve, 1_050))
  await assertErrorResponse(await forgetful.send('POST', '/plants', '{"id":1,"name":"a"}', retry), 400, 40901)
})

test('a key that is sent twice is rejected, and nothing is stored', async () => {
  const { text } = await exchange(app.port, [
    'POST /plants HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 19\r\n',
    `Authorization: Bearer ${TOKEN}\r\nIdempotency-Key: a\r\nIdempotency-Key: b\r\n\r\n{"id":99,"name":""}`,
  ])
  assert.match(text, /^HTTP\/1\.1 400 .*"error":40003,"message":"Idempotency-Key must be sent once\."/s)
  assert.equal((await app.fetch('/plants/99')).status, 404)
})
