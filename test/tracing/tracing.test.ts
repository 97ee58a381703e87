import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { abortImport } from '../support/abort-import.ts'
import { eventually } from '../support/eventually.ts'
import { startApp } from '../support/http/start-app.ts'
import { requestText } from '../support/http/wire.ts'
import { startServe } from '../support/process/plantstore-process.ts'
import { startCollector } from './collector.ts'

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c'
const PARENT_ID = 'b7ad6b7169203331'

/** A service that sends its spans to a collector at once. */
async function startTraced(t: TestContext, settings: Record<string, string> = {}) {
  const collector = await startCollector(t)
  const variables: Record<string, string> = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...settings }
  // The exporter reads the environment of the process itself.
  const before = { ...process.env }
  Object.assign(process.env, variables)
  t.after(() => {
    for (const name of Object.keys(variables)) delete process.env[name]
    Object.assign(process.env, before)
  })
  const app = await startApp(t, { OTEL_BSP_SCHEDULE_DELAY: '10', ...variables })
  return { app, collector }
}

test('a create is a span with a child span for each stage, without data of the plant', async (t) => {
  const { app, collector } = await startTraced(t)
  const response = await app.send('POST', '/plants', '{"id":42,"name":"Quercus robur"}', {
    'x-request-id': 'r-1',
  })
  assert.equal(response.status, 200)
  await eventually(() => collector.spans.length === 4)
  const root = collector.spans.find(({ parentSpanId }) => parentSpanId === '')
  assert.ok(root !== undefined)
  assert.equal(root.name, 'POST /plants')
  assert.equal(root.kind, 2)
  assert.deepEqual(root.attributes, {
    'http.request.method': 'POST',
    'url.scheme': 'http',
    'network.protocol.version': '1.1',
    'http.route': '/plants',
    'http.response.status_code': 200n,
    'plantstore.request_id': 'r-1',
  })
  const stages = collector.spans.filter(({ parentSpanId }) => parentSpanId === root.spanId)
  assert.deepEqual(
    stages.map(({ name }) => name),
    ['authenticate', 'parse', 'commit'],
  )
  for (const { traceId, startNs, endNs } of stages) {
    assert.equal(traceId, root.traceId)
    assert.ok(root.startNs <= startNs && startNs <= endNs && endNs <= root.endNs)
  }
  assert.equal(collector.resource['service.name'], 'plantstore')
  assert.equal(response.headers.get('traceresponse'), `00-${root.traceId}-${root.spanId}-01`)
})

test('the trace of a caller continues, and a trace that it does not sample is not sent', async (t) => {
  const { app, collector } = await startTraced(t)
  await app.fetch('/plants/7', { headers: { traceparent: `00-${TRACE_ID}-${PARENT_ID}-00` } })
  const response = await app.fetch('/plants/7', {
    headers: { traceparent: `00-${TRACE_ID}-${PARENT_ID}-01` },
  })
  assert.match(response.headers.get('traceresponse') ?? '', new RegExp(`^00-${TRACE_ID}-`))
  await eventually(() => collector.spans.length > 0)
  const roots = collector.spans.filter(({ name }) => name === 'GET /plants/{id}')
  assert.deepEqual(
    roots.map(({ traceId, parentSpanId }) => [traceId, parentSpanId]),
    [[TRACE_ID, PARENT_ID]],
  )
  // A 4xx is not an error of the service (semantic conventions for HTTP spans, "Status").
  assert.equal(roots[0]?.attributes['plantstore.error'], 40402n)
  assert.equal(roots[0]?.attributes['error.type'], undefined)
  assert.equal(roots[0]?.statusCode, 0n)
})

test('traces that the caller does not sample do not use the hundred traces of a second', async (t) => {
  const { app, collector } = await startTraced(t)
  const traceparent = `00-${TRACE_ID}-${PARENT_ID}-00`
  await Promise.all(Array.from({ length: 250 }, () => app.fetch('/healthz', { headers: { traceparent } })))
  await app.fetch('/plants/7', { headers: { traceparent: `00-${TRACE_ID}-${PARENT_ID}-01` } })
  await eventually(() => collector.spans.some(({ name }) => name === 'GET /plants/{id}'))
})

test('the stages of a request lie within its span', async (t) => {
  const { app, collector } = await startTraced(t)
  for (let id = 1; id <= 30; id++) await app.send('POST', '/plants', `{"id":${id},"name":"Oak"}`)
  await eventually(() => collector.spans.length >= 120)
  for (const { name, parentSpanId, startNs, endNs } of collector.spans.filter((span) => span.parentSpanId)) {
    const root = collector.spans.find(({ spanId }) => spanId === parentSpanId)
    assert.ok(root !== undefined)
    assert.ok(root.startNs <= startNs && startNs <= endNs && endNs <= root.endNs, name)
  }
})

test('the span of an unknown method has the name HTTP', async (t) => {
  const { app, collector } = await startTraced(t)
  await app.fetch('/plants', { method: 'PROPFIND' })
  const root = await eventually(() => collector.spans.find(({ kind }) => kind === 2))
  assert.equal(root.name, 'HTTP')
  assert.equal(root.attributes['http.request.method'], '_OTHER')
  assert.equal(root.attributes['http.request.method_original'], 'PROPFIND')
})

test('an import whose client disconnects is an error without a status', async (t) => {
  const { app, collector } = await startTraced(t)
  await abortImport(app)
  const root = await eventually(() => collector.spans.find(({ name }) => name === 'POST /plants/import'))
  assert.equal(root.statusCode, 2n)
  assert.equal(root.attributes['error.type'], 'dropped')
  assert.equal(root.attributes['http.response.status_code'], undefined)
})

test('a request whose client disconnects is an error, with its stages so far', async (t) => {
  const { app, collector } = await startTraced(t)
  const socket = connect({ port: app.port, host: '127.0.0.1' })
  socket.write(requestText('POST /plants', { Expect: '100-continue' }, '{}').slice(0, -1))
  // 100 Continue: the service waits for the body.
  await once(socket, 'data')
  socket.resetAndDestroy()
  const root = await eventually(() => collector.spans.find(({ name }) => name === 'POST /plants'))
  assert.equal(root.statusCode, 2n)
  assert.equal(root.attributes['error.type'], 'dropped')
  assert.equal(root.attributes['http.response.status_code'], undefined)
  const stages = collector.spans.filter(({ parentSpanId }) => parentSpanId === root.spanId)
  assert.deepEqual(
    stages.map(({ name }) => name),
    ['authenticate', 'parse'],
  )
})

test('an invalid traceparent is ignored', async (t) => {
  const { app, collector } = await startTraced(t)
  const response = await app.fetch('/tags', { headers: { traceparent: '00-zz-11-01' } })
  assert.equal(response.status, 200)
  await eventually(() =>
    collector.spans.some(({ name, parentSpanId }) => name === 'GET /tags' && parentSpanId === ''),
  )
})

test('without a sampler at most a hundred traces start each second', async (t) => {
  const { app, collector } = await startTraced(t)
  const responses = await Promise.all(Array.from({ length: 250 }, () => app.fetch('/healthz')))
  const traced = responses.filter(({ headers }) => headers.has('traceresponse')).length
  assert.ok(traced >= 100 && traced < 250, `${traced}`)
  await eventually(() => collector.spans.length === traced)
})

test('the configured sampler decides', async (t) => {
  const { app, collector } = await startTraced(t, { OTEL_TRACES_SAMPLER: 'always_off' })
  assert.match((await app.fetch('/plants')).headers.get('traceresponse') ?? '', /-00$/)
  await app.stop()
  assert.deepEqual(collector.spans, [])
})

test('the remaining spans are sent when the service stops', async (t) => {
  const { app, collector } = await startTraced(t, {
    OTEL_BSP_SCHEDULE_DELAY: '60000',
    OTEL_SERVICE_NAME: 'garden',
  })
  await app.fetch('/nowhere')
  await app.stop()
  assert.equal(
    collector.spans.some(({ name }) => name === 'GET'),
    true,
  )
  assert.equal(collector.resource['service.name'], 'garden')
})

test('a collector that rejects spans is logged once, and again when it accepts them', async (t) => {
  let status = 404
  const server = createServer((request, response) =>
    request.resume().on('end', () => response.writeHead(status).end()),
  )
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/secret`
  const { app } = await startTraced(t, { OTEL_EXPORTER_OTLP_ENDPOINT: url })
  const linesOf = (text: RegExp) => app.log.filter(({ msg }) => text.test(String(msg)))
  const lost = /does not accept spans/
  await eventually(async () => (await app.fetch('/healthz')).ok && linesOf(lost).length > 0)
  await app.fetch('/healthz')
  status = 200
  await eventually(async () => (await app.fetch('/healthz')).ok && linesOf(/accepts spans again/).length > 0)
  assert.equal(linesOf(lost).length, 1)
  assert.equal(linesOf(lost)[0]?.level, 40)
  assert.equal(linesOf(lost)[0]?.reason, 'it responded with status 404')
  assert.ok(!JSON.stringify(app.log).includes('secret'))
})

test('a collector that does not respond delays no request, and the stop only briefly', async (t) => {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` }
  const service = await startServe(t, { environment })
  assert.equal((await fetch(`http://127.0.0.1:${service.port}/healthz`)).status, 200)
  const startMs = performance.now()
  service.child.kill('SIGTERM')
  assert.equal(await service.exit, 0)
  const tookMs = performance.now() - startMs
  assert.ok(tookMs < 8_000, `${tookMs} ms`)
  assert.match(service.stderr, /the last spans are lost/)
})

test('requests and the stop work without a collector', async (t) => {
  const { app } = await startTraced(t, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' })
  assert.equal((await app.fetch('/plants')).status, 200)
  await app.stop()
})
