import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { assertErrorResponse } from '../../support/http/error-body.ts'
import { startApp } from '../../support/http/start-app.ts'

const app = await startApp({ after })

let lastId = 1000
/** An unused id. */
const nextId = () => ++lastId

const create = (json: string, headers?: Record<string, string>) => app.send('POST', '/plants', json, headers)

async function stored(id: number | bigint): Promise<Record<string, unknown>> {
  const response = await app.fetch(`/plants/${id}`)
  assert.equal(response.status, 200)
  return (await response.json()) as Record<string, unknown>
}

test('a create responds 200 with exactly the name and the tag, and the Location of the plant', async () => {
  const response = await create('{"id":42,"name":"Quercus robur","tag":"tree","more":1}')
  assert.equal(response.status, 200)
  assert.equal(await response.text(), '{"name":"Quercus robur","tag":"tree"}')
  assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8')
  assert.equal(response.headers.get('location'), '/plants/42')
  const read = await app.fetch('/plants/42')
  assert.equal(read.headers.get('etag'), response.headers.get('etag'))
  const plant = (await read.json()) as Record<string, string>
  assert.deepEqual(Object.keys(plant), ['id', 'name', 'tag', 'createdAt', 'updatedAt'])
  assert.match(plant.createdAt ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.ok(Math.abs(Date.now() - Date.parse(plant.createdAt ?? '')) < 60_000)
  assert.equal(plant.updatedAt, plant.createdAt)
})

test('a plant without a tag is returned and stored without one', async () => {
  const id = nextId()
  const response = await create(`{"id":${id},"name":""}`)
  assert.equal(await response.text(), '{"name":""}')
  assert.deepEqual(Object.keys(await stored(id)), ['id', 'name', 'createdAt', 'updatedAt'])
})

test('ids are exact in the whole 64-bit range', async () => {
  const ids = [
    '9007199254740992',
    '9007199254740993',
    '-9007199254740993',
    '9223372036854775807',
    '-9223372036854775808',
    '0',
  ]
  for (const id of ids) {
    const response = await create(`{"id":${id},"name":"the plant ${id}"}`)
    assert.equal(response.status, 200, id)
    assert.equal(response.headers.get('location'), `/plants/${id}`)
  }
  for (const id of ids) {
    const text = await (await app.fetch(`/plants/${id}`)).text()
    assert.ok(text.startsWith(`{"id":${id},"name":"the plant ${id}",`), text)
  }
})

test('an id is an integer in any notation of JSON', async () => {
  for (const [text, id] of [
    ['7001.0', 7001],
    ['70.02e2', 7002],
    ['70030E-1', 7003],
    ['-7004', -7004],
  ] as const) {
    const response = await create(`{"id":${text},"name":"a"}`)
    assert.equal(response.headers.get('location'), `/plants/${id}`, text)
  }
})

test('any text that is valid in UTF-8 is stored unchanged', async () => {
  const texts = fc
    .string({ unit: 'binary', maxLength: 40 })
    .map((text) => text.replaceAll('\0', '\x01').toWellFormed())
  await fc.assert(
    fc.asyncProperty(texts, texts, async (name, tag) => {
      const id = nextId()
      const response = await create(JSON.stringify({ id, name, tag }))
      assert.deepEqual(await response.json(), { name, tag })
      const plant = await stored(id)
      assert.deepEqual([plant.name, plant.tag], [name, tag])
    }),
    {
      numRuns: 60,
      examples: [
        [' × e\u0301 \ufeff', ''],
        ["'); DROP TABLE plants;--", '\u{1f331}\u2028\x7f'],
      ],
    },
  )
})

test('a used id is rejected with 400, and the stored plant is unchanged', async () => {
  const id = nextId()
  await create(`{"id":${id},"name":"first","tag":"kept"}`)
  const before = await stored(id)
  const message = await assertErrorResponse(await create(`{"id":${id},"name":"second"}`), 400, 40901)
  assert.match(message, new RegExp(`\\b${id}\\b`))
  assert.deepEqual(await stored(id), before)
})

test('of concurrent creates with one id exactly one succeeds', async () => {
  const id = nextId()
  const responses = await Promise.all(
    Array.from({ length: 20 }, (_, at) => create(`{"id":${id},"name":"plant ${at}"}`)),
  )
  const [winner, ...others] = responses.filter(({ status }) => status === 200)
  assert.ok(winner !== undefined && others.length === 0)
  const { name } = (await winner.json()) as { name: string }
  assert.equal((await stored(id)).name, name)
})

test('every rejection of a create has status 400', async () => {
  const valid = `{"id":${nextId()},"name":"a"}`
  const cases: [string, Response | Promise<Response>, Parameters<typeof assertErrorResponse>[2]][] = [
    ['no body', app.fetch('/plants', { method: 'POST' }), 40001],
    ['an empty body', create(''), 40001],
    ['no JSON', create('{"id":1'), 40002],
    ['no object', create('[1]'), 40003],
    ['a field', create('{"id":"1","name":"a"}'), 40003],
    ['U+0000', create(`{"id":${nextId()},"name":"a\\u0000"}`), 40003],
    ['a lone surrogate', create(`{"id":${nextId()},"name":"a","tag":"\\ud800"}`), 40003],
    ['a media type', create(valid, { 'content-type': 'text/plain' }), 41501],
    ['a coding', create(valid, { 'content-encoding': 'gzip' }), 41501],
    ['a charset', create(valid, { 'content-type': 'application/json; charset=latin1' }), 41501],
    ['its size', create(`{"id":1,"name":"${'x'.repeat(1024 * 1024)}"}`), 41301],
    ['a query', app.send('POST', '/plants?id=1', valid), 40004],
    ['a key', create(valid, { 'idempotency-key': '"half' }), 40003],
  ]
  for (const [what, response, code] of cases) {
    assert.equal((await response).status, 400, what)
    await assertErrorResponse(await response, 400, code)
  }
})

test('a JSON body is recognised in every notation of its media type', async () => {
  for (const type of [
    'APPLICATION/JSON',
    'application/json;charset=UTF-8',
    'application/json ; charset="utf-8"; q=1',
  ]) {
    const response = await create(`{"id":${nextId()},"name":"a"}`, { 'content-type': type })
    assert.equal(response.status, 200, type)
  }
})

test('an unknown plant is 404, and an invalid id 400', async () => {
  for (const method of ['GET', 'DELETE']) {
    await assertErrorResponse(await app.fetch('/plants/404404', { method }), 404, 40402)
    for (const id of [
      'x',
      '1.0',
      '01',
      '+1',
      '1e2',
      '%20',
      '%00',
      '9223372036854775808',
      '-9223372036854775809',
      '0x1',
      '1'.repeat(5000),
    ]) {
      await assertErrorResponse(await app.fetch(`/plants/${id}`, { method }), 400, 40004)
    }
    await assertErrorResponse(await app.fetch('/plants/42?verbose=1', { method }), 400, 40004)
  }
})

test('a read with the current ETag responds 304 without a body', async () => {
  const id = nextId()
  const etag = (await create(`{"id":${id},"name":"a"}`)).headers.get('etag') ?? ''
  for (const field of [etag, `W/${etag}`, '*', `"other", ${etag}`]) {
    const response = await app.fetch(`/plants/${id}`, { headers: { 'if-none-match': field } })
    assert.equal(response.status, 304, field)
    assert.equal(response.headers.get('etag'), etag)
    assert.equal(await response.text(), '')
  }
  assert.equal((await app.fetch(`/plants/${id}`, { headers: { 'if-none-match': '"other"' } })).status, 200)
  assert.equal((await app.fetch(`/plants/${id}`, { headers: { 'if-match': etag } })).status, 200)
  const stale = await app.fetch(`/plants/${id}`, { headers: { 'if-match': '"other"' } })
  await assertErrorResponse(stale, 412, 41201)
})
