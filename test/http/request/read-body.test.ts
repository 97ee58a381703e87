import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import type { ErrorCode } from '../../../src/errors.ts'
import { assertErrorResponse } from '../../support/http/error-body.ts'
import { startApp } from '../../support/http/start-app.ts'
import { openWire, requestText } from '../../support/http/wire.ts'

const app = await startApp({ after })
const open = (test: TestContext) => openWire(test, app.port)

const MIB = 1024 * 1024

let lastId = 0
const nextJson = () => `{"id":${++lastId},"name":"a"}`
/** The head of a create, with these fields in the place of Content-Length. */
const head = (fields: Record<string, string>) =>
  requestText('POST /plants', { 'Content-Type': 'application/json', ...fields })

const chunked = (...chunks: string[]) =>
  `${chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('')}0\r\n\r\n`

test('a body may arrive byte by byte', async (test) => {
  const wire = await open(test)
  const bytes = Buffer.from(
    requestText('POST /plants', {}, `{"id":${++lastId},"name":"×é\u{1f331}"}`),
    'latin1',
  )
  for (const byte of bytes) {
    wire.send(Buffer.of(byte))
    // Each byte in a turn of the event loop of its own.
    await new Promise(setImmediate)
  }
  assert.equal((await wire.response()).body, '{"name":"×é\u{1f331}"}')
  await wire.assertUsable()
})

test('a body may be chunked, with extensions and trailers', async (test) => {
  const wire = await open(test)
  const json = nextJson()
  const encoded: Record<string, string> = {
    'in one chunk': chunked(json),
    'a character a chunk': chunked(...`{"id":${++lastId},"name":"b"}`),
    'with an extension': `5;a=b;c="d"\r\n{"id"\r\n${chunked(`:${++lastId},"name":"c"}`)}`,
    'with a trailer': chunked(nextJson()).replace(/\r\n$/, 'X: y\r\nAuthorization: Bearer other\r\n\r\n'),
    'with leading zeros': `000${chunked(nextJson())}`,
  }
  for (const [how, body] of Object.entries(encoded)) {
    wire.send(head({ 'Transfer-Encoding': how === 'in one chunk' ? 'Chunked' : 'chunked' }) + body)
    assert.equal((await wire.response()).status, 200, how)
  }
  await wire.assertUsable()
})

test('bytes that are not UTF-8 are rejected and never stored in another form', async (test) => {
  const wire = await open(test)
  const broken: Record<string, string> = {
    'a lone continuation': '\x80',
    'a cut sequence': '\xc3',
    'an overlong slash': '\xc0\xaf',
    'an overlong zero': '\xc0\x80',
    'a surrogate': '\xed\xa0\x80',
    'beyond Unicode': '\xf4\x90\x80\x80',
    latin1: 'caf\xe9',
    'a byte that never occurs': '\xff',
  }
  for (const [what, bytes] of Object.entries(broken)) {
    const body = `{"id":${++lastId},"name":"${bytes}"}`
    wire.send(head({ 'Content-Length': String(body.length) }), body)
    const message = await assertErrorResponse(await wire.response(), 400, 40002)
    assert.match(message, /UTF-8/, what)
  }
  for (const encoding of ['utf16le', 'latin1'] as const) {
    const body = Buffer.from(`{"id":${++lastId},"name":"é"}`, encoding)
    wire.send(head({ 'Content-Length': String(body.length) }), body)
    await assertErrorResponse(await wire.response(), 400, 40002)
  }
  await wire.assertUsable()
})

test('a body that is not JSON is rejected, and the message does not quote it', async () => {
  const texts = [
    '{',
    '{"secret":',
    'secret',
    "{'secret':1}",
    '{"secret":1,}',
    '[secret]',
    '{"secret":1}{}',
    '{"secret":NaN}',
  ]
  texts.push(`${'['.repeat(100_000)}`, '{"secret":"\u0001"}', '{"secret":01}', '//secret', '{"a":1e}')
  for (const text of texts) {
    const message = await assertErrorResponse(await app.send('POST', '/plants', text), 400, 40002)
    assert.match(
      message,
      /^The body is not JSON(: it ends too early|: it is invalid after character \d+)?\.$/,
      text.slice(0, 20),
    )
  }
  // People count from 1.
  for (const [text, where] of [
    ['{"a":1,}', 'is invalid after character 7'],
    ['{"secret":', 'ends too early'],
  ] as const) {
    const message = await assertErrorResponse(await app.send('POST', '/plants', text), 400, 40002)
    assert.equal(message, `The body is not JSON: it ${where}.`)
  }
  // Deeply nested and sound all the same.
  const deep = `{"id":${++lastId},"name":"a","x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
  assert.equal((await app.send('POST', '/plants', deep)).status, 200)
})

test('a body of exactly the limit is accepted, and one byte more is not', async () => {
  const padded = (bytes: number) => {
    const start = `{"id":${++lastId},"name":"`
    return `${start}${'x'.repeat(bytes - start.length - 2)}"}`
  }
  assert.equal((await app.send('POST', '/plants', padded(MIB))).status, 200)
  await assertErrorResponse(await app.send('POST', '/plants', padded(MIB + 1)), 400, 41301)
})

test('a body of 5 MiB is rejected with an Error body, and the connection stays in sync', async (test) => {
  const large = 'x'.repeat(5 * MIB)
  const wire = await open(test)
  wire.send(head({ 'Content-Length': String(large.length) }), large)
  await assertErrorResponse(await wire.response(), 400, 41301)
  await wire.assertUsable()
  wire.send(
    head({ 'Transfer-Encoding': 'chunked' }),
    chunked(...Array.from({ length: 80 }, () => large.slice(0, 65_536))),
  )
  await assertErrorResponse(await wire.response(), 400, 41301)
  await wire.assertUsable()
})

test('an HTTP client that sends 5 MiB gets the error response', async () => {
  const response = await app.send('PUT', '/plants/1', `{"name":"${'x'.repeat(5 * MIB)}"}`)
  await assertErrorResponse(response, 413, 41301)
})

test('the connection stays in sync after every kind of rejected body', async (test) => {
  const wire = await open(test)
  const json = nextJson()
  const inner = requestText('POST /plants', {}, '{"id":666,"name":"smuggled"}')
  const cases: [string, Record<string, string>, number, ErrorCode][] = [
    ['POST /plants', { Authorization: '' }, 401, 40101],
    ['POST /plants', { Authorization: 'Bearer wrong' }, 401, 40102],
    ['POST /nothing', {}, 404, 40401],
    ['PUT /plants', {}, 405, 40501],
    ['PROPFIND /plants', {}, 405, 40501],
    ['POST /plants', { 'Content-Type': 'text/plain' }, 400, 41501],
    ['POST /plants', { 'Content-Type': '' }, 400, 41501],
    ['POST /plants', { 'Content-Encoding': 'gzip' }, 400, 41501],
    ['POST /plants', {}, 400, 40002],
    ['POST /plants?x=1', {}, 400, 40004],
    ['PUT /plants/x', {}, 400, 40004],
    ['DELETE /plants/404', {}, 404, 40402],
    ['GET /plants/404', {}, 404, 40402],
    ['OPTIONS /nothing', {}, 404, 40401],
    ['POST /%zz', {}, 400, 40004],
  ]
  for (const [line, fields, status, code] of cases) {
    wire.send(requestText(line, fields, inner))
    await assertErrorResponse(await wire.response(), status, code)
    const inChunks = { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked', ...fields }
    wire.send(requestText(line, inChunks) + chunked(inner))
    await assertErrorResponse(await wire.response(), status, code)
  }
  for (const [line, status] of [
    ['GET /healthz', 200],
    ['HEAD /healthz', 200],
    ['OPTIONS /plants', 204],
  ] as const) {
    wire.send(requestText(line, {}, inner))
    assert.equal((await wire.response(line.slice(0, 4))).status, status, line)
  }
  wire.send(requestText('POST /plants', {}, json))
  assert.equal((await wire.response()).status, 200)
  await wire.assertUsable()
  await assertErrorResponse(await app.fetch('/plants/666'), 404, 40402)
})

test('100 Continue is sent only if the header is valid', async (test) => {
  const wire = await open(test)
  const json = nextJson()
  const waiting = { Expect: '100-Continue', 'Content-Length': String(json.length) }
  wire.send(head(waiting))
  assert.equal((await wire.response()).status, 100)
  wire.send(json)
  assert.equal((await wire.response()).status, 200)
  await wire.assertUsable()

  const rejected: [Record<string, string>, number, ErrorCode][] = [
    [{ Authorization: '' }, 401, 40101],
    [{ Authorization: 'Bearer wrong' }, 401, 40102],
    [{ 'Content-Type': 'text/plain' }, 400, 41501],
    [{ 'Content-Length': String(MIB + 1) }, 400, 41301],
    [{ Host: '' }, 400, 40000],
  ]
  for (const [fields, status, code] of rejected) {
    const other = await open(test)
    other.send(head({ ...waiting, ...fields }))
    const response = await other.response()
    await assertErrorResponse(response, status, code)
    // Whether the body comes or not is up to the client: what follows on the connection could be taken for
    // anything.
    assert.equal(response.headers.connection, 'close')
    await other.assertClosed()
  }
})

test('a client that does not wait for 100 Continue is served, too', async (test) => {
  const wire = await open(test)
  const json = nextJson()
  wire.send(head({ Expect: '100-continue', 'Content-Length': String(json.length) }), json)
  const first = await wire.response()
  assert.equal(first.status === 100 ? (await wire.response()).status : first.status, 200)
  wire.send(requestText('GET /healthz', { Expect: '100-continue' }))
  assert.equal((await wire.response()).status, 200)
})

test('an unknown expectation is ignored (RFC 9110 §10.1.1)', async (test) => {
  const wire = await open(test)
  wire.send(requestText('POST /plants', { Expect: '200-ok' }, nextJson()))
  assert.equal((await wire.response()).status, 200)
  wire.send(requestText('GET /healthz', { Expect: 'the unexpected' }))
  assert.equal((await wire.response()).status, 200)
  await wire.assertUsable()
})

test('the message for an invisible byte order mark names it', async () => {
  const response = await app.send('POST', '/plants', '\ufeff{"id":1,"name":"n"}')
  assert.match(await assertErrorResponse(response, 400, 40002), /byte order mark/)
})
