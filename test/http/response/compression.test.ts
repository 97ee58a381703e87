import assert from 'node:assert/strict'
import { request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { startApp, TOKEN } from '../../support/http/start-app.ts'

const PLANTS = 2_000
const app = await startApp({ after })

before(async () => {
  const rows = Array.from(
    { length: PLANTS },
    (_, id) => `{"id":${id},"name":"Quercus ×${id}","tag":"t${id % 200}"}`,
  )
  const answer = await app.fetch('/plants/import', {
    method: 'POST',
    body: rows.join('\n'),
    headers: { 'content-type': 'application/x-ndjson' },
  })
  assert.equal(answer.status, 200)
})

/** What comes over the wire: fetch would unpack it. */
async function get(path: string, headers: Record<string, string>, method = 'GET') {
  const { promise, resolve, reject } = Promise.withResolvers<import('node:http').IncomingMessage>()
  request(`${app.url}${path}`, { method, headers: { authorization: `Bearer ${TOKEN}`, ...headers } }, resolve)
    .once('error', reject)
    .end()
  const answer = await promise
  return { status: answer.statusCode, headers: answer.headers, body: await buffer(answer) }
}

for (const [what, path, accept] of [
  ['a page of plants', '/plants?limit=500', 'application/json'],
  ['the tags', '/tags', 'application/json'],
  ['an export as NDJSON', '/plants', 'application/x-ndjson'],
  ['an export as CSV', '/plants?tag=t7', 'text/csv'],
  ['the OpenAPI document', '/openapi.json', '*/*'],
] as const) {
  test(`${what} is compressed for those who take it so, and is the same unpacked`, async () => {
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

test('HEAD tells of the compressed answer, and sends none', async () => {
  for (const accept of ['application/json', 'text/csv']) {
    const answer = await get('/plants', { accept, 'accept-encoding': 'gzip' }, 'HEAD')
    assert.equal(answer.headers['content-encoding'], 'gzip')
    assert.equal(answer.body.length, 0)
  }
})

test('what is short or secret is sent as it is', async () => {
  const made = await app.send('POST', '/tokens', '{"label":"x","scopes":["plants:read"]}')
  assert.equal(made.status, 201)
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
