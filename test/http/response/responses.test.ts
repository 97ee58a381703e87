import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApp } from '../../support/http/start-app.ts'
import { openWire, requestText } from '../../support/http/wire.ts'

const app = await startApp({ after })

test('HEAD has the response of GET without the body', async (test) => {
  const wire = await openWire(test, app.port)
  await app.send('POST', '/plants', '{"id":1,"name":"a"}')
  const paths = [
    '/plants/1',
    '/plants',
    '/plants?limit=1',
    '/tags',
    '/tokens',
    '/tokens/self',
    '/healthz',
    '/readyz',
  ]
  for (const path of [
    ...paths,
    '/openapi.json',
    '/openapi.yaml',
    '/docs',
    '/',
    '/plants/404404',
    '/nothing',
  ]) {
    const fields = { 'X-Request-Id': 'same' }
    wire.send(requestText(`GET ${path}`, fields), requestText(`HEAD ${path}`, fields))
    const get = await wire.response()
    const headOnly = await wire.response('HEAD')
    assert.equal(headOnly.status, get.status, path)
    delete get.headers.date
    delete headOnly.headers.date
    assert.deepEqual(headOnly.headers, get.headers, path)
  }
  await wire.assertUsable()
})

test('every response has the id of its request, and forbids content sniffing', async () => {
  await app.send('POST', '/plants', '{"id":2,"name":"a"}')
  const etag = (await app.fetch('/plants/2')).headers.get('etag') ?? ''
  const responses = [
    await app.fetch('/plants'),
    await app.send('PUT', '/plants/3', '{"name":"a"}'),
    await app.fetch('/plants/2', { headers: { 'if-none-match': etag } }),
    await app.fetch('/plants/2', { method: 'DELETE' }),
    await app.send('POST', '/tokens', '{"scopes":["plants:read"]}'),
    await app.fetch('/nothing'),
    await app.fetch('/plants', { method: 'OPTIONS' }),
    await app.fetch('/'),
    await app.fetch('/docs'),
    await app.fetch('/openapi.yaml'),
  ]
  assert.deepEqual(
    responses.map(({ status }) => status),
    [200, 201, 304, 204, 201, 404, 204, 200, 200, 200],
  )
  for (const { url, headers } of responses) {
    assert.ok(headers.get('x-request-id'), url)
    assert.equal(headers.get('x-content-type-options'), 'nosniff', url)
    assert.equal(headers.get('x-powered-by'), null)
    assert.equal(headers.get('server'), null)
  }
  const ids = new Set(responses.map(({ headers }) => headers.get('x-request-id')))
  assert.equal(ids.size, responses.length)
})
