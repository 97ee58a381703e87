import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fastify from 'fastify'
import type { Authorize } from '../../src/http/guard-routes.ts'
import { guardRoutes } from '../../src/http/guard-routes.ts'
import { SCOPES, type Scope } from '../../src/tokens/token.ts'
import { assertErrorResponse } from '../support/http/error-body.ts'
import { startApp, TOKEN } from '../support/http/start-app.ts'
import { openWire } from '../support/http/wire.ts'

const app = await startApp({ after })

/** What each operation needs, written down once more: a scope that changes must change here, too. */
const NEEDS: Record<string, Scope | 'any' | 'public'> = {
  'GET /plants': 'plants:read',
  'POST /plants': 'plants:write',
  'GET /plants/{id}': 'plants:read',
  'PUT /plants/{id}': 'plants:write',
  'PATCH /plants/{id}': 'plants:write',
  'DELETE /plants/{id}': 'plants:write',
  'POST /plants/import': 'plants:write',
  'GET /tags': 'plants:read',
  'GET /additions': 'plants:read',
  'GET /next-id': 'plants:write',
  'GET /tokens': 'tokens:manage',
  'POST /tokens': 'tokens:manage',
  'DELETE /tokens/{id}': 'tokens:manage',
  'GET /tokens/self': 'any',
  'POST /tokens/{id}/rotate': 'tokens:manage',
  'POST /tokens/self/rotate': 'any',
  'GET /metrics': 'metrics:read',
  'GET /healthz': 'public',
  'GET /readyz': 'public',
}

const document = (await (await app.fetch('/openapi.json')).json()) as { paths: Record<string, object> }
const OPERATIONS = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.keys(item).map((method) => ({ method: method.toUpperCase(), path })),
)

const tokens = new Map<Scope, string>()
for (const scope of SCOPES) {
  const made = await app.send('POST', '/tokens', JSON.stringify({ scopes: [scope] }))
  tokens.set(scope, ((await made.json()) as { token: string }).token)
}

const asked = (method: string, path: string, authorization: string) =>
  app.fetch(path.replace('{id}', '1'), { method, headers: { authorization } })

test('the operations of the document are those listed in this test', () => {
  assert.deepEqual(
    OPERATIONS.map(({ method, path }) => `${method} ${path}`).sort(),
    Object.keys(NEEDS).sort(),
  )
})

test('every operation requires a token with its scope', async () => {
  for (const { method, path } of OPERATIONS) {
    const need = NEEDS[`${method} ${path}`]
    if (need === 'public') {
      assert.equal((await asked(method, path, '')).status, 200, path)
      continue
    }
    for (const asking of method === 'GET' ? ['GET', 'HEAD'] : [method]) {
      const bare = await asked(asking, path, '')
      assert.equal(bare.status, 401, `${asking} ${path}`)
      if (asking !== 'HEAD') await assertErrorResponse(bare, 401, 40101)
      for (const [scope, token] of tokens) {
        const response = await asked(asking, path, `Bearer ${token}`)
        const isLetIn: boolean = need === 'any' || need === scope
        assert.equal(![401, 403].includes(response.status), isLetIn, `${asking} ${path} with ${scope}`)
        if (!isLetIn && asking !== 'HEAD') await assertErrorResponse(response, 403, 40301)
      }
    }
  }
})

test('pages and the API document are public and contain no plants', async () => {
  await app.send('POST', '/plants', '{"id":9,"name":"Not-To-Be-Seen"}')
  for (const path of ['/', '/openapi.json', '/openapi.yaml', '/docs']) {
    const response = await app.fetch(path, { headers: { authorization: '' } })
    assert.equal(response.status, 200, path)
    assert.ok(!(await response.text()).includes('Not-To-Be-Seen'))
  }
})

test('a method that a path does not support is 405, with the supported methods', async () => {
  for (const path of Object.keys(document.paths)) {
    const methods = new Set(
      OPERATIONS.filter((operation) => operation.path === path).map(({ method }) => method),
    )
    if (methods.has('GET')) methods.add('HEAD')
    methods.add('OPTIONS')
    // The path of one token is also that of the token in use.
    if (path.startsWith('/tokens/')) continue
    const allow = [...methods].sort().join(', ')
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'LINK']) {
      if (methods.has(method)) continue
      const response = await app.fetch(path.replace('{id}', '1'), { method })
      assert.equal(response.headers.get('allow'), allow, `${method} ${path}`)
      assert.equal(
        await assertErrorResponse(response, 405, 40501),
        `This path does not support ${method}. Supported: ${allow}.`,
      )
    }
    const options = await app.fetch(path.replace('{id}', '1'), { method: 'OPTIONS' })
    assert.equal(options.status, 204)
    assert.equal(options.headers.get('allow'), allow)
    assert.ok(options.headers.get('x-request-id'))
  }
})

test('an unsupported method is 401 without a token', async () => {
  for (const [method, path] of [
    ['DELETE', '/plants'],
    ['POST', '/healthz'],
    ['OPTIONS', '/plants'],
  ] as const) {
    await assertErrorResponse(await asked(method, path, ''), 401, 40101)
  }
})

test('OPTIONS of a public path needs no token, as health checks send none', async (t) => {
  for (const path of ['/', '/healthz', '/readyz', '/docs', '/openapi.json']) {
    const response = await asked('OPTIONS', path, '')
    assert.equal(response.status, 204, path)
    assert.equal(response.headers.get('allow'), 'GET, HEAD, OPTIONS', path)
  }
  for (const path of ['/plants', '/nothing', '/tokens/self']) {
    await assertErrorResponse(await asked('OPTIONS', path, ''), 401, 40101)
  }
  // The default check of HAProxy.
  const wire = await openWire(t, app.port)
  wire.send('OPTIONS / HTTP/1.0\r\n\r\n')
  assert.equal((await wire.response()).status, 204)
})

test('an unknown path leads to the reference, below the base path too', async (t) => {
  const below = await startApp(t, { PLANTSTORE_BASE_URL: 'https://example.org/garden' })
  for (const [path, docs] of [
    [`${app.url}/plant`, '/docs'],
    [`${below.url}/plant`, '/garden/docs'],
    [`${new URL(below.url).origin}/plants`, '/garden/docs'],
  ] as const) {
    const response = await fetch(path, { headers: { authorization: `Bearer ${TOKEN}` } })
    const message = await assertErrorResponse(response, 404, 40401)
    assert.equal(message, `There is no such path. The API reference at ${docs} lists the paths.`)
  }
})

test('paths are exact: case, slashes and dots count', async () => {
  for (const path of [
    '/Plants',
    '/plants/',
    '/plants//1',
    '/plants/1/',
    '/plants.json',
    '/plants;a=b',
    '/healthz/',
    '/docs/nothing',
  ]) {
    const response = await app.fetch(path)
    assert.ok([400, 404].includes(response.status), `${path}: ${response.status}`)
    assert.ok(response.headers.get('content-type')?.startsWith('application/json'))
  }
})

/** Adds one route to a bare server with the rules. */
async function startWith(url: string, config: object): Promise<void> {
  const bare = fastify()
  const letIn: Authorize = (_request, _scope, done) => done()
  guardRoutes(bare, {
    authorize: letIn,
    shedLoad: () => undefined,
    crossOrigin: undefined,
    basePath: '',
  })
  bare.route({ method: 'GET', url, config, handler: () => 'plants' })
  await bare.ready()
}

test('a route without an access rule fails the start', async () => {
  await assert.rejects(() => startWith('/plants', {}), /GET \/plants declares no scope/)
  await startWith('/plants', { scope: 'plants:read' })
})

test('a public route that is not on the list of public routes fails the start', async () => {
  for (const url of ['/plants', '/tokens', '/docs2', '/healthz/more', '/openapi.json2', '*']) {
    await assert.rejects(() => startWith(url, { scope: 'public' }), /may not be public/, url)
  }
  for (const url of ['/', '/healthz', '/docs/:file']) await startWith(url, { scope: 'public' })
})
