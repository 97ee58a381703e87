import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { startApp, TOKEN } from '../support/http/start-app.ts'
import { openBrowser } from '../web/open-page.ts'

const GARDEN = 'https://garden.example'
const app = await startApp(
  { after },
  { PLANTSTORE_CORS_ORIGINS: `${GARDEN},http://localhost:5173`, PLANTSTORE_RATE_LIMIT: '5000' },
)

const preflight = (origin: string, path = '/plants', headers: Record<string, string> = {}) =>
  app.fetch(path, {
    method: 'OPTIONS',
    headers: { authorization: '', origin, 'access-control-request-method': 'POST', ...headers },
  })

const corsFields = ({ headers }: Response) =>
  [...headers.keys()].filter((name) => name.startsWith('access-control-'))

test('without the setting no origin is allowed, and there is no Vary: Origin', async (t) => {
  const closed = await startApp(t)
  const response = await closed.fetch('/plants', { headers: { origin: GARDEN } })
  assert.equal(response.status, 200)
  assert.deepEqual(corsFields(response), [])
  assert.equal(response.headers.get('vary'), 'Accept, accept-encoding')
  const asked = await closed.fetch('/plants', {
    method: 'OPTIONS',
    headers: { authorization: '', origin: GARDEN, 'access-control-request-method': 'POST' },
  })
  assert.equal(asked.status, 401)
  assert.deepEqual(corsFields(asked), [])
})

test('a preflight of an allowed origin gets a response without a token, the same for every path', async () => {
  for (const path of ['/plants', '/plants/1', '/tokens', '/nowhere']) {
    const response = await preflight(GARDEN, path)
    assert.equal(response.status, 204)
    assert.equal(response.headers.get('access-control-allow-origin'), GARDEN)
    assert.equal(response.headers.get('access-control-allow-methods'), 'DELETE, GET, HEAD, PATCH, POST, PUT')
    assert.match(response.headers.get('access-control-allow-headers') ?? '', /Authorization.*Idempotency-Key/)
    assert.equal(response.headers.get('vary'), 'origin')
    assert.equal(response.headers.get('access-control-allow-credentials'), null)
  }
})

test('a preflight of another origin is handled as a request without a token', async () => {
  for (const origin of ['https://evil.example', `${GARDEN}.evil.example`, 'http://garden.example', 'null']) {
    const response = await preflight(origin)
    assert.equal(response.status, 401)
    assert.deepEqual(corsFields(response), [], origin)
    assert.equal(response.headers.get('vary'), 'origin')
  }
})

test('an allowed origin can read every response: successes, errors, exports, a malformed target', async () => {
  const asked: [path: string, init: { method?: string; headers?: Record<string, string> }, status: number][] =
    [
      ['/plants', {}, 200],
      ['/plants', { headers: { authorization: '' } }, 401],
      ['/plants', { headers: { authorization: 'Bearer wrong' } }, 401],
      ['/plants', { headers: { accept: 'text/csv' } }, 200],
      ['/plants/404', {}, 404],
      ['/plants/404', { method: 'DELETE' }, 404],
      ['/nowhere', {}, 404],
      ['/tags', { method: 'PUT' }, 405],
      ['/%zz', {}, 400],
      ['/healthz', {}, 200],
      ['/openapi.json', {}, 200],
    ]
  for (const [path, init, status] of asked) {
    const response = await app.fetch(path, { ...init, headers: { origin: GARDEN, ...init.headers } })
    assert.equal(response.status, status, path)
    assert.equal(response.headers.get('access-control-allow-origin'), GARDEN, path)
    assert.match(response.headers.get('access-control-expose-headers') ?? '', /ETag.*Retry-After/)
    assert.ok(response.headers.get('vary')?.split(', ').includes('origin'), path)
    await response.body?.cancel()
  }
})

test('a request without an origin has the usual response, with Vary: Origin', async () => {
  const response = await app.fetch('/plants')
  assert.deepEqual(corsFields(response), [])
  assert.equal(response.headers.get('vary'), 'Accept, accept-encoding, origin')
  assert.ok(response.headers.has('ratelimit'))
})

test('in a browser, a page of an allowed origin creates a plant and reads its ETag; another one cannot', async (t) => {
  const elsewhere = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html')
    response.end('<!doctype html><title>Elsewhere</title>')
  })
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve))
  t.after(() => elsewhere.close())
  const origin = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`
  const open = await startApp(t, { PLANTSTORE_CORS_ORIGINS: origin })
  const page = await (await openBrowser(t)).newPage()
  await page.goto(origin)
  const add = (url: string, token: string) =>
    page.evaluate(
      async ([to, bearer]) => {
        const response = await fetch(`${to}/plants`, {
          method: 'POST',
          headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
          body: '{"id":1,"name":"Quercus robur"}',
        }).catch(String)
        return typeof response === 'string'
          ? response
          : [response.status, response.headers.get('etag') !== null]
      },
      [url, token],
    )
  assert.deepEqual(await add(open.url, TOKEN), [200, true])
  assert.deepEqual(await add(open.url, 'a-token-that-nobody-knows'), [401, false])
  assert.match(String(await add(app.url, TOKEN)), /TypeError/)
})
