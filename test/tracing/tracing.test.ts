import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { cutImport } from '../support/cut-import.ts'
import { eventually } from '../support/eventually.ts'
import { startApp } from '../support/http/start-app.ts'
import { requestText } from '../support/http/wire.ts'
import { startServe } from '../support/process/plantstore-process.ts'
import { startCollector } from './collector.ts'

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c'
const PARENT_ID = 'b7ad6b7169203331'

/** A service that tells a collector of its requests at once. */
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

test('a create is told as a span with one for each stage, and nothing of the plant', async (t) => {
  const { app, collector } = await startTraced(t)
  const answer = await app.send('POST', '/plants', '{"id":42,"name":"Quercus robur"}', {
    'x-request-id': 'r-1',
  })
  assert.equal(answer.status, 200)
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
  assert.equal(answer.headers.get('traceresponse'), `00-${root.traceId}-${root.spanId}-01`)
})

test('the trace of a caller goes on, and one that it does not record is not recorded here', async (t) => {
  const { app, collector } = await startTraced(t)
  await app.fetch('/plants/7', { headers: { traceparent: `00-${TRACE_ID}-${PARENT_ID}-00` } })
  const answer = await app.fetch('/plants/7', { headers: { traceparent: `00-${TRACE_ID}-${PARENT_ID}-01` } })
  assert.match(answer.headers.get('traceresponse') ?? '', new RegExp(`^00-${TRACE_ID}-`))
  await eventually(() => collector.spans.length > 0)
  const roots = collector.spans.filter(({ name }) => name === 'GET /plants/{id}')
  assert.deepEqual(
    roots.map(({ traceId, parentSpanId }) => [traceId, parentSpanId]),
    [[TRACE_ID, PARENT_ID]],
  )
  // Not an error of the service: it did as it was asked (semantic conventions for HTTP spans, "Status").
  assert.equal(roots[0]?.attributes['plantstore.error'], 40402n)
  assert.equal(roots[0]?.attributes['error.type'], undefined)
  assert.equal(roots[0]?.statusCode, 0n)
})

test('what a caller does not record leaves the hundred traces of a second to the others', async (t) => {
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

test('a method that is not known has no name of its own', async (t) => {
  const { app, collector } = await startTraced(t)
  await app.fetch('/plants', { method: 'PROPFIND' })
  const root = await eventually(() => collector.spans.find(({ kind }) => kind === 2))
  assert.equal(root.name, 'HTTP')
  assert.equal(root.attributes['http.request.method'], '_OTHER')
  assert.equal(root.attributes['http.request.method_original'], 'PROPFIND')
})

test('an import whose client goes away is an error, and has no status, as there was no answer', async (t) => {
  const { app, collector } = await startTraced(t)
  await cutImport(app)
  const root = await eventually(() => collector.spans.find(({ name }) => name === 'POST /plants/import'))
  assert.equal(root.statusCode, 2n)
  assert.equal(root.attributes['error.type'], 'dropped')
  assert.equal(root.attributes['http.response.status_code'], undefined)
})

test('a request whose client gave up is an error, with the stages that it went through', async (t) => {
  const { app, collector } = await startTraced(t)
  const socket = connect({ port: app.port, host: '127.0.0.1' })
  socket.write(requestText('POST /plants', { Expect: '100-continue' }, '{}').slice(0, -1))
  // It is asked for its body.
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

test('a traceparent that is none is passed over', async (t) => {
  const { app, collector } = await startTraced(t)
  const answer = await app.fetch('/tags', { headers: { traceparent: '00-zz-11-01' } })
  assert.equal(answer.status, 200)
  await eventually(() =>
    collector.spans.some(({ name, parentSpanId }) => name === 'GET /tags' && parentSpanId === ''),
  )
})

test('without a sampler a hundred traces a second are begun, so that a flood costs nothing', async (t) => {
  const { app, collector } = await startTraced(t)
  const answers = await Promise.all(Array.from({ length: 250 }, () => app.fetch('/healthz')))
  const traced = answers.filter(({ headers }) => headers.has('traceresponse')).length
  assert.ok(traced >= 100 && traced < 250, `${traced}`)
  await eventually(() => collector.spans.length === traced)
})

test('the sampler that is named decides', async (t) => {
  const { app, collector } = await startTraced(t, { OTEL_TRACES_SAMPLER: 'always_off' })
  assert.match((await app.fetch('/plants')).headers.get('traceresponse') ?? '', /-00$/)
  await app.stop()
  assert.deepEqual(collector.spans, [])
})

test('what was not sent yet is sent when the service stops', async (t) => {
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

test('a collector that takes nothing is told of once, and when it takes spans again', async (t) => {
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

test('a collector that does not answer holds up neither a request nor for long the end', async (t) => {
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
  const askedMs = performance.now()
  service.child.kill('SIGTERM')
  assert.equal(await service.exit, 0)
  const tookMs = performance.now() - askedMs
  assert.ok(tookMs < 8_000, `${tookMs} ms`)
  assert.match(service.stderr, /the last spans are lost/)
})

test('a collector that is not there is no trouble', async (t) => {
  const { app } = await startTraced(t, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' })
  assert.equal((await app.fetch('/plants')).status, 200)
  await app.stop()
})
