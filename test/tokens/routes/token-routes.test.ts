import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import { isWellFormedToken, SCOPES } from '../../../src/tokens/token.ts'
import { eventually } from '../../support/eventually.ts'
import { assertErrorResponse, errorIn } from '../../support/http/error-body.ts'
import { startApp } from '../../support/http/start-app.ts'

const app = await startApp({ after })

interface Made {
  id: string
  label: string
  scopes: string[]
  createdAt: string
  expiresAt?: string
  token: string
}

async function make(json: string): Promise<Made> {
  const response = await app.send('POST', '/tokens', json)
  assert.equal(response.status, 201)
  return (await response.json()) as Made
}

const withToken = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })

test('a token is created with a label and scopes, and only this response has the secret', async () => {
  const response = await app.send('POST', '/tokens', '{"label":"the greenhouse","scopes":["plants:read"]}')
  assert.equal(response.status, 201)
  assert.equal(response.headers.get('cache-control'), 'no-store')
  const made = (await response.json()) as Made
  assert.deepEqual(Object.keys(made), ['id', 'label', 'scopes', 'createdAt', 'token'])
  assert.equal(made.label, 'the greenhouse')
  assert.deepEqual(made.scopes, ['plants:read'])
  assert.ok(isWellFormedToken(made.token))
  const list = await (await app.fetch('/tokens')).text()
  assert.ok(list.includes(made.id) && !list.includes(made.token))
})

test('a token works at once, within its scopes', async () => {
  const { token } = await make('{"scopes":["plants:read"]}')
  assert.equal((await app.fetch('/plants', withToken(token))).status, 200)
  const headers = { ...withToken(token).headers, 'content-type': 'application/json' }
  await assertErrorResponse(await app.fetch('/plants', { method: 'POST', body: '{}', headers }), 403, 40301)
})

test('a token can read itself without a scope for it', async () => {
  const { token, ...made } = await make(
    '{"label":"me","scopes":["metrics:read"],"expiresAt":"2099-01-31T12:00:00+02:00"}',
  )
  const self = (await (await app.fetch('/tokens/self', withToken(token))).json()) as Record<string, unknown>
  const { lastUsedAt, ...rest } = self
  assert.deepEqual(rest, made)
  assert.equal(made.expiresAt, '2099-01-31T10:00:00.000Z')
  assert.match(String(lastUsedAt), /^\d{4}-.*Z$/)
})

test('the fixed token can read itself and is not in the list', async () => {
  const self = (await (await app.fetch('/tokens/self')).json()) as Record<string, unknown>
  assert.deepEqual(self.scopes, SCOPES)
  const list = (await (await app.fetch('/tokens')).json()) as Record<string, unknown>[]
  assert.ok(!list.some(({ id }) => id === self.id))
})

test('tokens are listed oldest first, with the time of their last use', async () => {
  const one = await make('{"label":"one","scopes":["plants:read"]}')
  const two = await make('{"label":"two","scopes":["plants:read"]}')
  await app.fetch('/plants', withToken(one.token))
  const list = async () => (await (await app.fetch('/tokens')).json()) as Record<string, unknown>[]
  const [listedOne, listedTwo] = (await list()).filter(({ id }) => id === one.id || id === two.id)
  assert.deepEqual([listedOne?.label, listedTwo?.label], ['one', 'two'])
  // It is recorded after the request.
  await eventually(async () =>
    (await list()).some(({ id, lastUsedAt }) => id === one.id && lastUsedAt !== undefined),
  )
  assert.ok(!('lastUsedAt' in (listedTwo ?? {})))
})

test('a revoked token is rejected at once, even if it was in use', async () => {
  const { id, token } = await make('{"scopes":["plants:read"]}')
  assert.equal((await app.fetch('/plants', withToken(token))).status, 200)
  const response = await app.fetch(`/tokens/${id}`, { method: 'DELETE' })
  assert.equal(response.status, 204)
  assert.equal(await response.text(), '')
  await assertErrorResponse(await app.fetch('/plants', withToken(token)), 401, 40102)
  await assertErrorResponse(await app.fetch(`/tokens/${id}`, { method: 'DELETE' }), 404, 40403)
})

test('revoking an unknown id, or a secret in place of the id, is 404', async () => {
  const { token } = await make('{"scopes":["plants:read"]}')
  for (const id of ['nobody', 'configured', '%27%20OR%201=1', 'x'.repeat(5000), token]) {
    await assertErrorResponse(await app.fetch(`/tokens/${id}`, { method: 'DELETE' }), 404, 40403)
  }
  assert.equal((await app.fetch('/plants', withToken(token))).status, 200)
})

test('the length of a label is counted in code points, as in the API document', async () => {
  const label = '🌿'.repeat(200)
  assert.equal((await make(JSON.stringify({ label, scopes: ['plants:read'] }))).label, label)
  const longer = await app.send(
    'POST',
    '/tokens',
    JSON.stringify({ label: `${label}x`, scopes: ['plants:read'] }),
  )
  await assertErrorResponse(longer, 400, 40003)
})

test('every invalid field of a new token is named with its rule', async () => {
  const read = '"scopes":["plants:read"]'
  const cases: [string, string][] = [
    ['[]', ' object'],
    ['{}', 'scopes required'],
    ['{"scopes":[]}', 'scopes min-items'],
    ['{"scopes":"plants:read"}', 'scopes array'],
    ['{"scopes":["plants:read","admin"]}', 'scopes one-of'],
    ['{"scopes":["constructor"]}', 'scopes one-of'],
    [`{${read},"label":1}`, 'label string'],
    [`{${read},"label":null}`, 'label string'],
    [`{${read},"label":"a\\nb"}`, 'label single-line'],
    [`{${read},"label":"\\u0000"}`, 'label single-line'],
    [`{${read},"label":"\\ud800"}`, 'label single-line'],
    [`{${read},"label":"a\\u2028b"}`, 'label single-line'],
    [`{${read},"label":"\\u202eabc"}`, 'label single-line'],
    [`{${read},"label":"${'x'.repeat(201)}"}`, 'label max-length'],
    [`{${read},"expiresAt":"tomorrow"}`, 'expiresAt date-time'],
    [`{${read},"expiresAt":"2020-01-01T00:00:00Z"}`, 'expiresAt future'],
    [`{${read},"expiresAt":"2099-01-01"}`, 'expiresAt date-time'],
    [`{${read},"expiresAt":"9999-12-31T23:59:59-23:59"}`, 'expiresAt date-time'],
    [`{${read},"expiresAt":"2099-13-01T00:00:00Z"}`, 'expiresAt date-time'],
    [`{${read},"expiresAt":"2099-02-30T00:00:00Z"}`, 'expiresAt date-time'],
    [`{${read},"expiresAt":"2099-01-01T24:00:00Z"}`, 'expiresAt date-time'],
    [`{${read},"expiresAt":4102444800000}`, 'expiresAt date-time'],
    [`{${read},"expiresAt":null}`, 'expiresAt date-time'],
    ['{"label":1}', 'label string, scopes required'],
    [`{${read},"expires":"2099-01-01T00:00:00Z"}`, 'expires unknown-member'],
    [`{${read},"graceSeconds":1,"Label":""}`, 'graceSeconds unknown-member, Label unknown-member'],
    [`{${read},"__proto__":{}}`, '__proto__ unknown-member'],
    ['{"scope":["plants:read"]}', 'scopes required, scope unknown-member'],
  ]
  for (const [json, rules] of cases) {
    const { message, details } = await errorIn(await app.send('POST', '/tokens', json), 400, 40003)
    const violated = details.fields?.map(({ name, rule }) => `${name} ${rule}`).join(', ')
    assert.equal(violated, rules, json)
    for (const { name } of details.fields ?? []) assert.ok(message.includes(name), message)
  }
})

test('a body with many unknown members, or long names of members, gets a short response', async () => {
  const many = Array.from({ length: 900 }, (_, at) => `"x${at}":${at}`).join()
  const { details } = await errorIn(await app.send('POST', '/tokens', `{"scopes":[],${many}}`), 400, 40003)
  assert.equal(details.fields?.length, 11)
  const long = await app.send('POST', '/tokens', `{"scopes":["plants:read"],"${'x'.repeat(10_000)}":1}`)
  const { message } = await errorIn(long, 400, 40003)
  assert.ok(message.length < 200, message)
})

test('a repeated scope is stored once, and any label of one line is stored as it is', async () => {
  const made = await make(`{"label":"${'ü'.repeat(200)}","scopes":["plants:read","plants:read"]}`)
  assert.deepEqual(made.scopes, ['plants:read'])
  assert.equal(made.label, 'ü'.repeat(200))
})

test('query parameters are rejected', async () => {
  for (const [method, path] of [
    ['GET', '/tokens?x=1'],
    ['GET', '/tokens/self?x=1'],
    ['DELETE', '/tokens/a?x=1'],
  ] as const) {
    await assertErrorResponse(await app.fetch(path, { method }), 400, 40004)
  }
  await assertErrorResponse(await app.send('POST', '/tokens?x=1', '{"scopes":["plants:read"]}'), 400, 40004)
})

test('the database file has no token, only its hash', {
  skip: process.env.TEST_DATABASE_SERVER !== undefined && 'PostgreSQL has no such file',
}, async () => {
  const { token } = await make('{"scopes":["plants:read"]}')
  const database = new DatabaseSync(app.database, { readOnly: true })
  const rows = JSON.stringify(database.prepare('SELECT * FROM tokens').all())
  database.close()
  assert.ok(!rows.includes(token.slice(5, 20)))
})
