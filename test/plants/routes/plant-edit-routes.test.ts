import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertErrorResponse } from '../../support/http/error-body.ts'
import { startApp } from '../../support/http/start-app.ts'

// PUT, PATCH and DELETE of one plant.

const app = await startApp({ after })

let lastId = 0
/** A new plant, its path and its ETag. */
async function newPlant(members = '"name":"Ficus","tag":"tree"'): Promise<{ path: string; etag: string }> {
  const id = ++lastId
  const response = await app.send('POST', '/plants', `{"id":${id},${members}}`)
  assert.equal(response.status, 200)
  return { path: `/plants/${id}`, etag: response.headers.get('etag') ?? '' }
}

async function read(path: string): Promise<Record<string, unknown>> {
  return (await (await app.fetch(path)).json()) as Record<string, unknown>
}

const change = (path: string, json: string, headers: Record<string, string> = {}) =>
  app.send('PATCH', path, json, { 'content-type': 'application/merge-patch+json', ...headers })

test('PUT to an unused id creates the plant: 201, with its Location and the stored plant', async () => {
  const path = '/plants/9007199254740993'
  const response = await app.send('PUT', path, '{"name":"Salix"}')
  assert.equal(response.status, 201)
  assert.equal(response.headers.get('location'), path)
  const text = await response.text()
  assert.ok(text.startsWith('{"id":9007199254740993,"name":"Salix","createdAt":'), text)
  const again = await app.fetch(path)
  assert.equal(await again.text(), text)
  assert.equal(again.headers.get('etag'), response.headers.get('etag'))
})

test('PUT to a stored plant replaces it and keeps its createdAt', async () => {
  const { path, etag } = await newPlant()
  const before = await read(path)
  const response = await app.send('PUT', path, '{"name":"Salix"}')
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('location'), null)
  assert.notEqual(response.headers.get('etag'), etag)
  const plant = (await response.json()) as Record<string, unknown>
  assert.deepEqual(await read(path), plant)
  assert.deepEqual(
    { ...plant, updatedAt: '' },
    { id: before.id, name: 'Salix', createdAt: before.createdAt, updatedAt: '' },
  )
})

test('PATCH updates only its members', async () => {
  const { path } = await newPlant()
  assert.equal((await change(path, '{"name":"Salix"}')).status, 200)
  assert.deepEqual([(await read(path)).name, (await read(path)).tag], ['Salix', 'tree'])
  const response = await change(path, '{"tag":"shrub"}', { 'content-type': 'application/json' })
  assert.deepEqual(await response.json(), await read(path))
  assert.deepEqual([(await read(path)).name, (await read(path)).tag], ['Salix', 'shrub'])
})

test('PATCH with a null tag deletes the tag, and an empty PATCH changes no member', async () => {
  const { path } = await newPlant()
  assert.ok(!('tag' in ((await (await change(path, '{"tag":null}')).json()) as object)))
  assert.ok(!('tag' in (await read(path))))
  const before = await read(path)
  assert.equal((await change(path, '{}')).status, 200)
  assert.deepEqual({ ...(await read(path)), updatedAt: '' }, { ...before, updatedAt: '' })
})

test('DELETE responds 204 without a body, and the plant is gone', async () => {
  const { path } = await newPlant()
  const response = await app.fetch(path, { method: 'DELETE' })
  assert.equal(response.status, 204)
  assert.equal(await response.text(), '')
  assert.equal(response.headers.get('content-type'), null)
  assert.ok(response.headers.get('x-request-id'))
  await assertErrorResponse(await app.fetch(path), 404, 40402)
  await assertErrorResponse(await app.fetch(path, { method: 'DELETE' }), 404, 40402)
  await assertErrorResponse(await change(path, '{"name":"a"}'), 404, 40402)
})

test('an id in the body must equal that of the path', async () => {
  const { path } = await newPlant()
  const id = path.slice('/plants/'.length)
  assert.equal((await app.send('PUT', path, `{"id":${id}.0,"name":"a"}`)).status, 200)
  assert.equal((await change(path, `{"id":${id}}`)).status, 200)
  for (const json of [
    '{"id":999,"name":"a"}',
    `{"id":"${id}","name":"a"}`,
    '{"id":null,"name":"a"}',
    `{"id":${id}.5,"name":"a"}`,
  ]) {
    await assertErrorResponse(await app.send('PUT', path, json), 400, 40003)
    await assertErrorResponse(await change(path, json), 400, 40003)
  }
})

test('If-Match allows a write while the plant is unchanged, and rejects it afterwards', async () => {
  const writes: ((path: string, headers: Record<string, string>) => Promise<Response>)[] = [
    (path, headers) => app.send('PUT', path, '{"name":"new"}', headers),
    (path, headers) => change(path, '{"name":"new"}', headers),
    (path, headers) => app.fetch(path, { method: 'DELETE', headers }),
  ]
  for (const write of writes) {
    const { path, etag } = await newPlant()
    const before = await read(path)
    for (const field of ['"other"', 'W/"other"']) {
      await assertErrorResponse(await write(path, { 'if-match': field }), 412, 41201)
    }
    for (const field of ['', etag.replaceAll('"', '')]) {
      await assertErrorResponse(await write(path, { 'if-match': field }), 400, 40004)
    }
    assert.deepEqual(await read(path), before)
    assert.ok((await write(path, { 'if-match': `"other", W/${etag}` })).ok)
  }
  const { path, etag } = await newPlant()
  await change(path, '{"name":"Ficus"}')
  await assertErrorResponse(await change(path, '{"tag":"x"}', { 'if-match': etag }), 412, 41201)
  assert.equal((await change(path, '{"tag":"x"}', { 'if-match': '*' })).status, 200)
})

test('a write that has no precondition rejects If-Match instead of ignoring it', async () => {
  for (const [method, path] of [
    ['POST', '/plants'],
    ['POST', '/plants/import'],
    ['POST', '/tokens'],
    ['DELETE', '/tokens/nobody'],
  ] as const) {
    const body = method === 'DELETE' ? {} : { body: '{"id":7007,"name":"a"}' }
    const headers = { 'if-match': '"1"', 'content-type': 'application/json' }
    const response = await app.fetch(path, { method, headers, ...body })
    const { details } = (await response.clone().json()) as { details?: unknown }
    await assertErrorResponse(response, 400, 40004)
    assert.deepEqual(details, { parameter: 'If-Match' })
  }
  await assertErrorResponse(await app.fetch('/plants/7007'), 404, 40402)
  // It is true of any create.
  const onlyNew = { 'if-none-match': '*' }
  assert.equal((await app.send('POST', '/plants', '{"id":7007,"name":"a"}', onlyNew)).status, 200)
})

test('every write creates a new ETag, even within a microsecond', async () => {
  const { path, etag } = await newPlant()
  const responses = await Promise.all(Array.from({ length: 30 }, () => change(path, '{"tag":"same"}')))
  const tags = [etag, ...responses.map((response) => response.headers.get('etag'))]
  assert.equal(new Set(tags).size, tags.length)
})

test('PUT with If-None-Match: * only creates', async () => {
  const { path } = await newPlant()
  const before = await read(path)
  const onlyNew = { 'if-none-match': '*' }
  await assertErrorResponse(await app.send('PUT', path, '{"name":"new"}', onlyNew), 412, 41201)
  assert.deepEqual(await read(path), before)
  assert.equal((await app.send('PUT', '/plants/-77', '{"name":"new"}', onlyNew)).status, 201)
  const onlyOld = await app.send('PUT', '/plants/-78', '{"name":"new"}', { 'if-match': '*' })
  await assertErrorResponse(onlyOld, 412, 41201)
  await assertErrorResponse(await app.fetch('/plants/-78'), 404, 40402)
})

test('of two updates with the same ETag one is rejected, so none is lost', async () => {
  const { path, etag } = await newPlant()
  const statuses = (
    await Promise.all(['a', 'b', 'c'].map((name) => change(path, `{"name":"${name}"}`, { 'if-match': etag })))
  ).map(({ status }) => status)
  assert.deepEqual(statuses.sort(), [200, 412, 412])
})

test('checks run in order: path, query, media type, body, fields, existence, precondition', async () => {
  const absent = '/plants/-404'
  const stale = { 'if-match': '"x"' }
  await assertErrorResponse(await change('/plants/x?y=1', '{', { 'content-type': 'a/b' }), 400, 40004)
  await assertErrorResponse(await change(`${absent}?y=1`, '{', { 'content-type': 'a/b' }), 400, 40004)
  await assertErrorResponse(await change(absent, '{', { 'content-type': 'a/b', ...stale }), 415, 41501)
  await assertErrorResponse(await change(absent, '{', stale), 400, 40002)
  await assertErrorResponse(await change(absent, '{"name":1}', stale), 400, 40003)
  await assertErrorResponse(await change(absent, '{"name":"a"}', stale), 404, 40402)
  await assertErrorResponse(await app.fetch(absent, { method: 'DELETE', headers: stale }), 404, 40402)
  await assertErrorResponse(await app.fetch(absent, { headers: stale }), 404, 40402)
})

test('a rejection of PUT or PATCH has the closest status, unlike that of POST /plants', async () => {
  const { path } = await newPlant()
  const large = `{"name":"${'x'.repeat(1024 * 1024)}"}`
  await assertErrorResponse(await app.send('PUT', path, large), 413, 41301)
  await assertErrorResponse(await change(path, large), 413, 41301)
  await assertErrorResponse(
    await app.send('PUT', path, '{"name":"a"}', { 'content-type': 'text/csv' }),
    415,
    41501,
  )
  await assertErrorResponse(
    await app.send('PUT', path, '{"name":"a"}', { 'content-type': 'application/merge-patch+json' }),
    415,
    41501,
  )
  await assertErrorResponse(await app.fetch(path, { method: 'PUT' }), 400, 40001)
})
