import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ERRORS, OVERLOAD_REASONS } from '../../src/errors.ts'
import { abortImport } from '../support/abort-import.ts'
import { eventually } from '../support/eventually.ts'
import { exchange } from '../support/http/raw-http.ts'
import { startApp } from '../support/http/start-app.ts'
import { openWire, requestText } from '../support/http/wire.ts'
import { type Metrics, metricsOf, sumOf } from '../support/metrics-text.ts'

const REQUESTS = 'plantstore_http_requests_total'
const DURATIONS = 'plantstore_http_request_duration_seconds'
const REJECTIONS = 'plantstore_rejections_total'

const app = await startApp({ after })

/** The metrics once so many requests are counted: each is counted after its response. */
function afterRequests(count: number, of: Pick<typeof app, 'fetch'> = app): Promise<Metrics> {
  return eventually(async () => {
    const metrics = await metricsOf(of)
    const counted = sumOf(metrics, REQUESTS) - sumOf(metrics, REQUESTS, { route: '/metrics' })
    return counted >= count && metrics
  })
}

test('requests are counted by the template of their route, method and status, and none twice', async (context) => {
  const app = await startApp(context)
  for (const id of [1, 2, 3]) await app.send('POST', '/plants', `{"id":${id},"name":"a"}`)
  await app.send('POST', '/plants', '{"id":3,"name":"a"}')
  for (const id of [1, 2, 9]) await app.fetch(`/plants/${id}`)
  await app.fetch('/plants/1', { method: 'HEAD' })
  await app.fetch('/plants', { headers: { accept: 'application/x-ndjson' } })
  await app.fetch('/docs/swagger-ui.css')
  const metrics = await afterRequests(10, app)
  const rows = metrics.get(REQUESTS)?.samples ?? []
  assert.deepEqual(
    rows
      .filter(({ labels }) => labels.route !== '/metrics')
      .map(({ labels, value }) => `${labels.method} ${labels.route} ${labels.status}: ${value}`)
      .sort(),
    [
      'GET /docs/{file} 200: 1',
      'GET /plants 200: 1',
      'GET /plants/{id} 200: 2',
      'GET /plants/{id} 404: 1',
      'HEAD /plants/{id} 200: 1',
      'POST /plants 200: 3',
      'POST /plants 400: 1',
    ],
  )
  assert.equal(sumOf(metrics, `${DURATIONS}_count`, { route: '/plants/{id}', method: 'GET' }), 3)
  assert.equal(sumOf(metrics, `${DURATIONS}_bucket`, { route: '/plants', method: 'POST', le: '+Inf' }), 4)
  assert.ok(sumOf(metrics, `${DURATIONS}_sum`, { route: '/plants', method: 'POST' }) > 0)
  assert.equal(sumOf(metrics, REJECTIONS, { error: '40901', reason: 'id taken' }), 1)
  assert.equal(sumOf(metrics, REJECTIONS, { error: '40402', reason: 'no such plant' }), 1)
  assert.equal(sumOf(metrics, REJECTIONS), 2)
})

test('thousands of unknown paths and methods make a handful of series', async (context) => {
  const app = await startApp(context, { PLANTSTORE_LOG_LEVEL: 'warn' })
  const requests = 3_000
  const wire = await openWire(context, app.port)
  const methods = ['GET', 'POST', 'PURGE', 'PROPFIND', 'MKCOL', 'REPORT', 'LOCK', 'SEARCH']
  const paths = (at: number) => [
    `/odd/${at}`,
    `/plants/${at}/x`,
    `/%ff${at}`,
    `/plants/${at}`,
    `/tokens/${at}`,
  ]
  for (let at = 0; at < requests; at++) {
    const method = methods[at % methods.length] ?? ''
    wire.send(requestText(`${method} ${paths(at)[at % 5]}`))
    assert.ok((await wire.response(method)).status >= 400)
  }
  const metrics = await afterRequests(requests, app)
  const all = metrics.get(REQUESTS)?.samples ?? []
  const series = all.filter(({ labels }) => labels.route !== '/metrics')
  assert.ok(series.length < 40, `${series.length} series`)
  const labels = (name: string) => [...new Set(series.map((sample) => sample.labels[name]))].sort()
  assert.deepEqual(labels('route'), ['/plants/{id}', 'none'])
  assert.deepEqual(labels('method'), ['GET', 'POST', 'other'])
})

test('bytes that are not HTTP and incomplete requests are counted without a route', async (context) => {
  const app = await startApp(context, { PLANTSTORE_HEADERS_TIMEOUT_MS: '200' })
  await exchange(app.port, 'garbage\r\n\r\n')
  await exchange(app.port, `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`)
  await exchange(app.port, 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n')
  await exchange(app.port, 'GET / HTTP/1.1\r\nHost', { waitMs: 4_000 })
  const metrics = await afterRequests(4, app)
  for (const [status, error] of [
    ['400', '40000'],
    ['431', '43101'],
    ['405', '40501'],
    ['408', '40801'],
  ] as const) {
    assert.equal(sumOf(metrics, REQUESTS, { route: 'unreadable', method: 'other', status }), 1, status)
    assert.equal(sumOf(metrics, REJECTIONS, { error }), 1, error)
  }
})

test('an import whose client disconnects has no response and is not counted as a success', async (context) => {
  const app = await startApp(context, { PLANTSTORE_LOG_LEVEL: 'debug' })
  await abortImport(app)
  await eventually(() => app.log.some(({ path }) => path === '/plants/import'))
  assert.equal(sumOf(await metricsOf(app), REQUESTS, { route: '/plants/import' }), 0)
})

test('no metric contains plants, tokens or paths', async () => {
  const made = await app.send('POST', '/tokens', '{"label":"Labelled-Secretly","scopes":["metrics:read"]}')
  const { id, token } = (await made.json()) as { id: string; token: string }
  await app.send('POST', '/plants', '{"id":777000777,"name":"Hidden-Name","tag":"Hidden-Tag"}')
  await app.fetch('/plants/777000777')
  await app.fetch('/plants?q=Hidden&tag=Hidden-Tag')
  await app.fetch(`/tokens/${token}`, { method: 'DELETE' })
  await app.fetch('/Hidden-Path', { headers: { authorization: `Bearer ${token}`, 'x-request-id': 'Hidden' } })
  const response = await app.fetch('/metrics', { headers: { authorization: `Bearer ${token}` } })
  const text = await response.text()
  for (const secret of [id, token, 'Labelled', 'Hidden', '777000777'])
    assert.ok(!text.includes(secret), secret)
})

test('the response is the text format of Prometheus, is not cached, and HEAD has its header fields', async () => {
  const response = await app.fetch('/metrics', { method: 'HEAD' })
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
  assert.equal(response.headers.get('cache-control'), 'no-store')
  assert.ok(Number(response.headers.get('content-length')) > 1000)
})

test('routes do not include the base path', async (context) => {
  const app = await startApp(context, { PLANTSTORE_BASE_URL: 'https://example.org/garden' })
  await app.fetch('/plants/1')
  const metrics = await afterRequests(1, app)
  assert.equal(sumOf(metrics, REQUESTS, { route: '/plants/{id}', status: '404' }), 1)
})

test('services of one process count for themselves', async (context) => {
  const [one, other] = [await startApp(context), await startApp(context)]
  await one.fetch('/healthz')
  assert.equal(sumOf(await afterRequests(1, one), REQUESTS, { route: '/healthz' }), 1)
  assert.equal(sumOf(await metricsOf(other), REQUESTS, { route: '/healthz' }), 0)
})

test('without the setting metrics there is no /metrics', async (context) => {
  const app = await startApp(context, { PLANTSTORE_METRICS: 'false' })
  const response = await app.fetch('/metrics')
  assert.equal(response.status, 404)
  assert.equal(((await response.json()) as { error: number }).error, 40401)
  const document = (await (await app.fetch('/openapi.json')).json()) as { paths: object }
  assert.ok(!('/metrics' in document.paths))
})

test('the reasons of rejections distinguish every error code and every cause of overload', async () => {
  const { OVERLOAD_CAUSES, REJECTION_REASONS } = await import('../../src/metrics/rejection-reasons.ts')
  const reasons = [...Object.values(REJECTION_REASONS), ...Object.values(OVERLOAD_CAUSES)]
  assert.equal(new Set(reasons).size, Object.keys(ERRORS).length + OVERLOAD_REASONS.length)
})
