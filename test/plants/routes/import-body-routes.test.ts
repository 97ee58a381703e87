import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { eventually } from '../../support/eventually.ts'
import { assertErrorResponse, errorIn } from '../../support/http/error-body.ts'
import { type StartedApp, startApp } from '../../support/http/start-app.ts'
import { openWire, requestText, type Wire } from '../../support/http/wire.ts'
import {
  CSV,
  countsOf,
  importReport,
  NDJSON,
  parseIds,
  postImport,
  type Report,
  storedPlants,
} from './import-requests.ts'

// The body of an import as bytes on a connection.

const plantLines = (count: number, firstId = 1) =>
  Array.from({ length: count }, (_, at) => `{"id":${firstId + at},"name":"plant ${firstId + at}"}\n`).join('')
const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
const END = '0\r\n\r\n'

/** Starts an import with a chunked body on its own connection. */
async function beginImport(
  t: TestContext,
  app: StartedApp,
  headers: Record<string, string> = {},
  query = '',
): Promise<Wire> {
  const wire = await openWire(t, app.port)
  wire.send(
    requestText(`POST /plants/import${query}`, {
      'Content-Type': NDJSON,
      'Transfer-Encoding': 'chunked',
      ...headers,
    }),
  )
  return wire
}

const isStored = async (app: StartedApp, id: number) => (await app.fetch(`/plants/${id}`)).status === 200
const reportIn = ({ body }: { body: string }) => parseIds(body) as Report

test('a gzip body is decompressed as it arrives', async (t) => {
  const app = await startApp(t)
  for (const [at, coding] of ['gzip', 'x-gzip', 'GZIP'].entries()) {
    const rows = plantLines(5_000, at * 5_000)
    const report = await importReport(app, gzipSync(rows), { headers: { 'content-encoding': coding } })
    assert.deepEqual(countsOf(report), [5_000, 0, 0, 0])
  }
  const members = Buffer.concat([gzipSync(plantLines(1, 20_000)), gzipSync(plantLines(1, 20_001))])
  const report = await importReport(app, members, { headers: { 'content-encoding': 'gzip' } })
  assert.deepEqual(countsOf(report), [2, 0, 0, 0])
  const plain = await importReport(app, plantLines(1, 30_000), {
    headers: { 'content-encoding': 'identity' },
  })
  assert.deepEqual(countsOf(plain), [1, 0, 0, 0])
})

test('damaged or incomplete gzip ends the import, with its progress in the details', async (t) => {
  const app = await startApp(t)
  const whole = gzipSync(plantLines(20_000))
  const broken = Buffer.from(whole)
  broken.fill(0xff, whole.length / 2, whole.length / 2 + 50)
  const headers = { 'content-encoding': 'gzip' }
  for (const body of [broken, whole.subarray(0, whole.length / 2)]) {
    const response = await postImport(app, body, { headers, query: '?onConflict=skip' })
    const { message, details } = await errorIn(response, 400, 40002)
    assert.match(message, /^The body is not valid gzip\./)
    assert.equal(details.outcome, 'stored-before-line')
    assert.ok(await isStored(app, Number(details.line) - 1), message)
  }
  const response = await postImport(app, plantLines(1, 50_000), { headers })
  assert.equal((await errorIn(response, 400, 40002)).details.outcome, 'none')
  assert.deepEqual(countsOf(await importReport(app, whole, { headers, query: '?onConflict=skip' }))[3], 0)
  assert.equal((await storedPlants(app)).length, 20_000)
})

test('an import may take longer than other requests, and the next request has the usual limit', async (t) => {
  const app = await startApp(t, {
    PLANTSTORE_HEADERS_TIMEOUT_MS: '300',
    PLANTSTORE_REQUEST_TIMEOUT_MS: '600',
  })
  const wire = await beginImport(t, app)
  // Time limits are checked every second.
  for (let id = 1; id <= 9; id++) {
    wire.send(chunk(plantLines(1, id)))
    await sleep(250)
  }
  wire.send(END)
  const response = await wire.response()
  assert.equal(response.status, 200, response.body)
  assert.deepEqual(countsOf(reportIn(response)), [9, 0, 0, 0])
  wire.send(requestText('POST /plants', { 'Content-Type': 'application/json', 'Content-Length': '20' }))
  await assertErrorResponse(await wire.response(), 408, 40801)
  await wire.assertClosed()
})

test('header fields after an import have the usual time limit', async (t) => {
  const app = await startApp(t, { PLANTSTORE_HEADERS_TIMEOUT_MS: '300' })
  const wire = await beginImport(t, app)
  wire.send(chunk(plantLines(1)), END)
  assert.equal((await wire.response()).status, 200)
  wire.send('GET /plants HTTP/1.1\r\nHost: ')
  await assertErrorResponse(await wire.response(), 408, 40801)
  await wire.assertClosed()
})

test('a client that sends nothing for too long gets 40801, and its earlier rows are stored', async (t) => {
  const app = await startApp(t, {
    PLANTSTORE_HEADERS_TIMEOUT_MS: '300',
    PLANTSTORE_REQUEST_TIMEOUT_MS: '600',
  })
  const wire = await beginImport(t, app)
  wire.send(chunk(`${plantLines(3)}{"id":4,"na`))
  const response = await wire.response()
  const { message, details } = await errorIn(response, 408, 40801)
  assert.equal(message, 'No byte of the body arrived for 0.6 seconds.')
  const counts = { created: 3, replaced: 0, skipped: 0, failed: 0 }
  assert.deepEqual(details, { line: 4, counts, outcome: 'stored-before-line' })
  assert.equal(response.headers.connection, 'close')
  await wire.assertClosed()
  assert.equal((await storedPlants(app)).length, 3)
})

test('100 Continue is sent once the header is valid', async (t) => {
  const app = await startApp(t)
  const expect = { Expect: '100-continue' }
  for (const [at, accept] of ['application/json', NDJSON].entries()) {
    const wire = await beginImport(t, app, { ...expect, Accept: accept })
    assert.equal((await wire.response()).status, 100)
    wire.send(chunk(plantLines(1, at)), END)
    await eventually(() => isStored(app, at))
  }
  const wire = await beginImport(t, app, expect, '?onConflict=never')
  await assertErrorResponse(await wire.response(), 400, 40004)
  await wire.assertClosed()
})

test('after an import that ended early the rest of the body is dropped, and the connection is usable', async (t) => {
  const app = await startApp(t)
  const wire = await beginImport(t, app, { 'Content-Type': CSV })
  wire.send(chunk('number,title\n1,x\n'))
  const message = await assertErrorResponse(await wire.response(), 400, 40003)
  assert.match(message, /^The header row is wrong: "number, title"\. A column name is required\. /)
  for (let count = 0; count < 50; count++) wire.send(chunk('1,x\n'.repeat(10_000)))
  wire.send(END)
  await wire.assertUsable()
  const large = `number,title\n${'1,x\n'.repeat(1_000_000)}`
  await assertErrorResponse(await postImport(app, large, { headers: { 'content-type': CSV } }), 400, 40003)
})

test('when the body is incomplete its whole rows are stored, and a partial row is not', async (t) => {
  const app = await startApp(t)
  for (const [at, accept] of ['application/json', NDJSON].entries()) {
    const id = 10 * at
    const wire = await beginImport(t, app, { 'Content-Type': CSV, Accept: accept }, '?columns=id,name')
    wire.send(chunk(`${id},whole\n${id + 1},whole\n${id + 2},whole\n${id + 3},hal`))
    await eventually(() => isStored(app, id + 1))
    wire.end()
    await eventually(() => wire.isClosed)
  }
  const cut = connect(app.port, '127.0.0.1')
  const head = requestText('POST /plants/import?columns=id,name', {
    'Content-Type': CSV,
    'Content-Length': '1000',
  })
  cut.write(`${head}30,whole\n31,whole\n32,whole\n33,ha`)
  await eventually(() => isStored(app, 31))
  cut.destroy()
  await eventually(() => isStored(app, 32))
  for (const id of [2, 12, 32]) await eventually(() => isStored(app, id))
  for (const id of [3, 13, 33]) assert.equal(await isStored(app, id), false)
  await eventually(() => app.log.length >= 3)
  assert.deepEqual(
    app.log.filter(({ level }) => Number(level) >= 40),
    [],
  )
  const lines = Map.groupBy(
    app.log.filter(({ path }) => path === '/plants/import'),
    ({ requestId }) => requestId,
  )
  for (const [id, entries] of lines) assert.equal(entries.length, 1, `${id}`)
})

test('a stop waits for a running import within its time limit', async (t) => {
  const app = await startApp(t, { PLANTSTORE_SHUTDOWN_TIMEOUT_MS: '5000' })
  const wire = await beginImport(t, app)
  wire.send(chunk(plantLines(1_500)))
  await eventually(() => isStored(app, 1_000))
  const stopped = app.stop()
  // Soon new connections fail; until then a kept-alive connection may still carry a request.
  await eventually(() =>
    fetch(`${app.url}/healthz`).then(
      () => false,
      () => true,
    ),
  )
  wire.send(chunk(plantLines(1_500, 2_000)), END)
  const response = await wire.response()
  assert.deepEqual(countsOf(reportIn(response)), [3_000, 0, 0, 0])
  await stopped
  await wire.assertClosed()
})

test('a stop drops an import that takes too long, and its stored rows stay', async (t) => {
  const app = await startApp(t, { PLANTSTORE_SHUTDOWN_TIMEOUT_MS: '100' })
  const wire = await beginImport(t, app)
  wire.send(chunk(plantLines(1_500)))
  await eventually(() => isStored(app, 1_500))
  await app.stop()
  await wire.assertClosed()
  const again = await startApp(t, { PLANTSTORE_DATABASE: app.database })
  assert.equal((await storedPlants(again)).length, 1_500)
})
