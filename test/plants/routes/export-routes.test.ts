import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, type TestContext, test } from 'node:test'
import { AppError } from '../../../src/errors.ts'
import type { StoredPlant } from '../../../src/plants/plant.ts'
import { eventually } from '../../support/eventually.ts'
import { assertErrorResponse } from '../../support/http/error-body.ts'
import { startAlteredApp } from '../../support/http/start-altered-app.ts'
import { startApp } from '../../support/http/start-app.ts'
import { requestText } from '../../support/http/wire.ts'
import { CSV, exportedLines, importReport, NDJSON } from './import-requests.ts'

const app = await startApp({ after })

await importReport(
  app,
  [
    '{"id":9223372036854775807,"name":"last"}',
    '{"id":-9223372036854775808,"name":"first","tag":"tree"}',
    '{"id":9007199254740993,"name":"Rosa, \\"Peace\\"\\r\\n🌱","tag":""}',
    '{"id":9007199254740992,"name":"","tag":"big, bold"}',
    '{"id":7,"name":" =1+1 ","tag":"tree"}',
  ].join('\n'),
)

const get = (path: string, accept: string) => app.fetch(path, { headers: { accept } })

const idsIn = (lines: readonly string[]) => lines.map((line) => /"id":(-?\d+)/.exec(line)?.[1] ?? line)

test('NDJSON has every plant as in the list, in the order of their ids', async () => {
  const response = await get('/plants', NDJSON)
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), NDJSON)
  const list = await (await get('/plants', 'application/json')).text()
  const text = await response.text()
  assert.equal(`[${text.trimEnd().split('\n').join(',')}]`, list)
  assert.equal(text.at(-1), '\n')
  assert.deepEqual(idsIn(await exportedLines(app)), [
    '-9223372036854775808',
    '7',
    '9007199254740992',
    '9007199254740993',
    '9223372036854775807',
  ])
})

test('CSV has every plant unchanged', async () => {
  const response = await get('/plants', CSV)
  assert.equal(response.headers.get('content-type'), 'text/csv; charset=utf-8; header=present')
  const text = Buffer.from(await response.arrayBuffer()).toString()
  const time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g
  assert.equal(
    text.replace(time, 'T'),
    [
      'id,name,tag,createdAt,updatedAt',
      '-9223372036854775808,first,tree,T,T',
      '7, =1+1 ,tree,T,T',
      '9007199254740992,"","big, bold",T,T',
      '9007199254740993,"Rosa, ""Peace""\r\n🌱","",T,T',
      '9223372036854775807,last,,T,T',
      '',
    ].join('\r\n'),
  )
  const marked = Buffer.from(await (await get('/plants?bom=1', CSV)).arrayBuffer())
  assert.equal(marked.toString(), `\ufeff${text}`)
  assert.equal(await (await get('/plants?bom=0', CSV)).text(), text)
})

test('tag, q and after filter an export', async () => {
  assert.deepEqual(idsIn(await exportedLines(app, '?tag=tree')), ['-9223372036854775808', '7'])
  assert.deepEqual(idsIn(await exportedLines(app, '?after=9007199254740992')), [
    '9007199254740993',
    '9223372036854775807',
  ])
  assert.deepEqual(idsIn(await exportedLines(app, '?tag=tree&after=-9223372036854775808')), ['7'])
  await eventually(async () => idsIn(await exportedLines(app, '?q=peac')).join() === '9007199254740993')
  assert.deepEqual(await exportedLines(app, '?q='), [])
  assert.deepEqual(await exportedLines(app, '?after=9223372036854775807'), [])
  const nothing = await get('/plants?tag=none', CSV)
  assert.equal(await nothing.text(), 'id,name,tag,createdAt,updatedAt\r\n')
})

test('Accept selects the format, and every response has Vary: Accept', async () => {
  for (const [accept, type] of [
    ['*/*', 'application/json'],
    ['image/png', 'application/json'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'application/json'],
    ['text/csv;q=0.5, application/json;q=0.4', CSV],
    ['text/*', CSV],
    ['text/csv, application/x-ndjson;q=0.9', CSV],
    ['application/x-ndjson, */*;q=0.1', NDJSON],
  ] as const) {
    const response = await get('/plants', accept)
    assert.equal(response.headers.get('content-type')?.split(';')[0], type, accept)
    assert.equal(response.headers.get('vary'), 'Accept, accept-encoding')
    await response.arrayBuffer()
    const head = await app.fetch('/plants', { method: 'HEAD', headers: { accept } })
    assert.deepEqual([head.status, await head.text()], [200, ''])
    for (const name of ['content-type', 'vary', 'x-content-type-options', 'link']) {
      assert.equal(head.headers.get(name), response.headers.get(name), `${name} for ${accept}`)
    }
  }
})

test('a parameter for pages, or for another format, is rejected', async () => {
  const cases: [string, string, RegExp][] = [
    ['?limit=10', NDJSON, /^limit is for pages of JSON\. application\/x-ndjson holds every plant/],
    ['?limit=10', CSV, /^limit is for pages of JSON\. text\/csv holds every plant/],
    ['?bom=1', NDJSON, /^bom is for text\/csv only/],
    ['?bom=1', '*/*', /"bom"/],
    ['?bom=true', CSV, /^bom must be 1 /],
    ['?after=x', CSV, /^after must be an integer/],
    ['?offset=1', NDJSON, /"offset"/],
  ]
  for (const [query, accept, message] of cases) {
    assert.match(await assertErrorResponse(await get(`/plants${query}`, accept), 400, 40004), message)
  }
  const bare = await app.fetch('/plants', { headers: { accept: CSV, authorization: '' } })
  await assertErrorResponse(bare, 401, 40101)
})

const plant = (id: number): StoredPlant => ({
  id: BigInt(id),
  name: 'x'.repeat(1_000),
  createdAtMs: 0,
  updatedAtMs: 0,
  version: 1,
})

/** An app whose export never ends, or fails with `failure` at that chunk; and whether its iterator was returned. */
async function altered(
  t: TestContext,
  failsAt = Number.POSITIVE_INFINITY,
  failure: unknown = new AppError(50302),
  settings: Record<string, string> = {},
) {
  const state = { steps: 0, isReturned: false }
  const app = await startAlteredApp(t, {
    settings,
    storage: (real) => ({
      ...real,
      plants: {
        ...real.plants,
        async *exportPlants() {
          try {
            for (let step = 0; ; step++) {
              state.steps = step
              if (step === failsAt) throw failure
              yield Array.from({ length: 100 }, (_, at) => plant(step * 100 + at))
            }
          } finally {
            state.isReturned = true
          }
        },
      },
    }),
  })
  return { app, state }
}

test('an export that fails before its first plant has an error response', async (t) => {
  const { app, state } = await altered(t, 0)
  const response = await app.fetch('/plants', { headers: { accept: CSV } })
  await assertErrorResponse(response, 503, 50302)
  assert.equal(state.isReturned, true)
})

test('an export that fails midway drops the connection, and is logged', async (t) => {
  for (const [failure, code] of [
    [new AppError(50302, undefined, { cause: new Error('disk') }), 50302],
    [new Error('disk'), 50001],
  ] as const) {
    const { app } = await altered(t, 20, failure)
    for (const accept of [CSV, NDJSON]) {
      const response = await app.fetch('/plants', { headers: { accept } })
      assert.equal(response.status, 200)
      await assert.rejects(response.text(), TypeError)
      const line = await eventually(() => app.log.find(({ error }) => error === code))
      assert.deepEqual([line.level, line.msg, line.path], [50, 'request failed', '/plants'])
      assert.match(String(line.cause), /disk/)
    }
  }
})

test('when the client disconnects the export ends, and nothing is logged', async (t) => {
  const { app, state } = await altered(t)
  const response = await app.fetch('/plants', { headers: { accept: NDJSON } })
  await response.body?.cancel()
  await eventually(() => state.isReturned)
  assert.deepEqual(
    app.log.filter(({ level }) => Number(level) > 20),
    [],
  )
})

test('an export whose client does not read is not read ahead', async (t) => {
  const { app, state } = await altered(t)
  const socket = connect(app.port, '127.0.0.1')
  t.after(() => void socket.destroy())
  socket.write(requestText('GET /plants', { Accept: CSV }))
  socket.pause()
  let steps = -1
  await eventually(async () => {
    if (steps === state.steps && steps > 0) return true
    steps = state.steps
    // Other requests give the export time.
    for (let count = 0; count < 20; count++) assert.equal((await app.fetch('/healthz')).status, 200)
    return false
  })
  socket.destroy()
  await eventually(() => state.isReturned)
})

test('an export ends when its token is revoked, as an import does', async (t) => {
  const { app, state } = await altered(t)
  const created = await app.fetch('/tokens', {
    method: 'POST',
    body: '{"scopes":["plants:read"]}',
    headers: { 'content-type': 'application/json' },
  })
  const { id, token } = (await created.json()) as { id: string; token: string }
  const response = await app.fetch('/plants', {
    headers: { accept: NDJSON, authorization: `Bearer ${token}` },
  })
  const reading = assert.rejects(response.text(), TypeError)
  assert.equal((await app.fetch(`/tokens/${id}`, { method: 'DELETE' })).status, 204)
  await reading
  assert.equal(state.isReturned, true)
  assert.equal((await app.fetch('/readyz')).status, 200)
})

test('an export that takes longer than its limit is given up, and the log says so', async (t) => {
  const { app, state } = await altered(t, undefined, undefined, { PLANTSTORE_EXPORT_TIMEOUT_MS: '300' })
  const response = await app.fetch('/plants', { headers: { accept: CSV } })
  await assert.rejects(response.text(), TypeError)
  await eventually(() => state.isReturned)
  const line = await eventually(() => app.log.find(({ error }) => error === 40801))
  assert.match(String(line.cause), /longer than 0\.3 seconds/)
})
