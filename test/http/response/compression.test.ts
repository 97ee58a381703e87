import assert from 'node:assert/strict'
import { request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { after, before, type TestContext, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify'
import { createSendLongJson, type SendLongJson } from '../../../src/http/response/compression.ts'
import { startApp, TOKEN } from '../../support/http/start-app.ts'

const PLANTS = 2_000
const app = await startApp({ after })

before(async () => {
  const rows = Array.from(
    { length: PLANTS },
    (_, id) => `{"id":${id},"name":"Quercus ×${id}","tag":"t${id % 200}"}`,
  )
  const imported = await app.fetch('/plants/import', {
    method: 'POST',
    body: rows.join('\n'),
    headers: { 'content-type': 'application/x-ndjson' },
  })
  assert.equal(imported.status, 200)
})

/** A response as it is sent, without the decompression of fetch. */
async function get(path: string, headers: Record<string, string>, method = 'GET') {
  const { promise, resolve, reject } = Promise.withResolvers<import('node:http').IncomingMessage>()
  request(`${app.url}${path}`, { method, headers: { authorization: `Bearer ${TOKEN}`, ...headers } }, resolve)
    .once('error', reject)
    .end()
  const response = await promise
  return { status: response.statusCode, headers: response.headers, body: await buffer(response) }
}

for (const [what, path, accept] of [
  ['a page of plants', '/plants?limit=500', 'application/json'],
  ['the tags', '/tags', 'application/json'],
  ['an export as NDJSON', '/plants', 'application/x-ndjson'],
  ['an export as CSV', '/plants?tag=t7', 'text/csv'],
  ['the OpenAPI document', '/openapi.json', '*/*'],
] as const) {
  test(`${what} is compressed if the client accepts gzip, and decompresses to the same bytes`, async () => {
    const plain = await get(path, { accept })
    assert.equal(plain.headers['content-encoding'], undefined)
    assert.match(String(plain.headers.vary), /accept-encoding/)
    for (const coding of ['gzip', 'br, gzip;q=0.5', 'deflate,GZIP', '*', 'identity;q=0.5, x-gzip']) {
      const packed = await get(path, { accept, 'accept-encoding': coding })
      assert.equal(packed.headers['content-encoding'], 'gzip')
      assert.match(String(packed.headers.vary), /accept-encoding/)
      assert.deepEqual(gunzipSync(packed.body), plain.body)
      if (plain.body.length > 10_000) assert.ok(packed.body.length < plain.body.length / 2)
    }
    for (const coding of ['gzip;q=0', 'gzip;q=0.1, identity;q=0.9', '*, gzip;q=0.000', 'br', '']) {
      assert.deepEqual((await get(path, { accept, 'accept-encoding': coding })).body, plain.body, coding)
    }
  })
}

test('HEAD has the header fields of the compressed response, and no body', async () => {
  for (const accept of ['application/json', 'text/csv']) {
    const response = await get('/plants', { accept, 'accept-encoding': 'gzip' }, 'HEAD')
    assert.equal(response.headers['content-encoding'], 'gzip')
    assert.equal(response.body.length, 0)
  }
})

test('short and secret responses are not compressed', async () => {
  const created = await app.send('POST', '/tokens', '{"label":"x","scopes":["plants:read"]}')
  assert.equal(created.status, 201)
  for (const path of [
    '/plants/1',
    '/plants?limit=1',
    '/tokens',
    '/tokens/self',
    '/healthz',
    '/plants/99999',
  ]) {
    assert.equal(
      (await get(path, { 'accept-encoding': 'gzip' })).headers['content-encoding'],
      undefined,
      path,
    )
  }
})

const JSON_CHARACTERS = 6_000
/** The sender of an app that compresses two responses at once. */
const createSenderOfTwo = () => createSendLongJson(JSON_CHARACTERS * 2)

/** Responds to as many requests as there are senders at the same time, each request with a sender of its own. */
async function startSimultaneous(t: TestContext, senders: readonly SendLongJson[]) {
  const app = fastify()
  app.decorate('recordRequest', () => {})
  let arrived: [FastifyRequest, FastifyReply][] = []
  app.get('/', (request, reply) => {
    arrived.push([request, reply])
    if (arrived.length < senders.length) return
    const all = arrived
    arrived = []
    const json = JSON.stringify('x'.repeat(JSON_CHARACTERS - 2))
    for (const [at, send] of senders.entries()) void send(...(all[at] as (typeof all)[number]), json)
  })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  t.after(() => app.close())
  /** Sends the requests, and returns how many responses were compressed. */
  return async () => {
    const responses = await Promise.all(senders.map(() => fetch(url)))
    for (const response of responses) assert.equal((await response.text()).length, JSON_CHARACTERS)
    return responses.filter(({ headers }) => headers.get('content-encoding') === 'gzip').length
  }
}

test('responses above the limit on concurrent compression are not compressed', async (t) => {
  const countCompressed = await startSimultaneous(t, new Array(5).fill(createSenderOfTwo()))
  assert.equal(await countCompressed(), 2)
  assert.equal(await countCompressed(), 2, 'the characters are free again')
})

test('two apps in one process do not share the limit on compression', async (t) => {
  const [one, other] = [createSenderOfTwo(), createSenderOfTwo()]
  const countCompressed = await startSimultaneous(t, [one, one, one, other, other, other])
  assert.equal(await countCompressed(), 4)
})
