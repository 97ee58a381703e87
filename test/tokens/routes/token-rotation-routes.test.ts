import assert from 'node:assert/strict'
import { after, test } from 'node:test'
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

async function make(json = '{"label":"the greenhouse","scopes":["plants:read"]}'): Promise<Made> {
  const response = await app.send('POST', '/tokens', json)
  assert.equal(response.status, 201)
  return (await response.json()) as Made
}

const withToken = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })

async function made(response: Response): Promise<Made> {
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('cache-control'), 'no-store')
  return (await response.json()) as Made
}

/** Rotates a token with the scope tokens:manage. */
const rotate = async (id: string, json?: string) =>
  made(
    await (json === undefined
      ? app.fetch(`/tokens/${id}/rotate`, { method: 'POST' })
      : app.send('POST', `/tokens/${id}/rotate`, json)),
  )

const self = async (token: string) =>
  (await app.fetch('/tokens/self', withToken(token))).json() as Promise<Made>

async function assertInvalid(token: string): Promise<void> {
  await assertErrorResponse(await app.fetch('/plants', withToken(token)), 401, 40102)
}

test('a rotated token keeps everything except its secret, and the old secret stays valid for a day', async () => {
  const old = await make('{"label":"kept","scopes":["plants:read"],"expiresAt":"2099-01-01T00:00:00Z"}')
  const beforeMs = Date.now()
  const { token, ...rest } = await rotate(old.id)
  const { token: oldToken, ...oldRest } = old
  assert.deepEqual(rest, oldRest)
  assert.notEqual(token, oldToken)
  for (const each of [token, oldToken])
    assert.equal((await app.fetch('/plants', withToken(each))).status, 200)
  assert.equal((await self(token)).expiresAt, '2099-01-01T00:00:00.000Z')
  const endsAtMs = Date.parse((await self(oldToken)).expiresAt ?? '')
  assert.ok(endsAtMs >= beforeMs + 86_400_000 && endsAtMs <= Date.now() + 86_400_000, String(endsAtMs))
})

test('the old secret expires with its grace period, and at once without one', async () => {
  const brief = await make()
  const afterIt = await rotate(brief.id, '{"graceSeconds":1}')
  await eventually(async () => (await app.fetch('/plants', withToken(brief.token))).status === 401, 10_000)
  assert.equal((await app.fetch('/plants', withToken(afterIt.token))).status, 200)

  const leaked = await make()
  assert.equal((await app.fetch('/plants', withToken(leaked.token))).status, 200)
  const fresh = await rotate(leaked.id, '{"graceSeconds":0}')
  await assertInvalid(leaked.token)
  assert.equal((await app.fetch('/plants', withToken(fresh.token))).status, 200)
})

test('a second rotation revokes the oldest secret, and a revocation all of them', async () => {
  const first = await make()
  const second = await rotate(first.id)
  const third = await rotate(first.id)
  await assertInvalid(first.token)
  for (const { token } of [second, third])
    assert.equal((await app.fetch('/plants', withToken(token))).status, 200)
  assert.equal((await app.fetch(`/tokens/${first.id}`, { method: 'DELETE' })).status, 204)
  for (const { token } of [second, third]) await assertInvalid(token)
})

test('a token rotates itself without a scope for it, but an old secret cannot', async () => {
  const first = await make()
  const rotateSelf = (token: string) =>
    app.fetch('/tokens/self/rotate', { method: 'POST', ...withToken(token) })
  const second = await made(await rotateSelf(first.token))
  assert.equal(second.id, first.id)
  assert.match(await assertErrorResponse(await rotateSelf(first.token), 403, 40301), /was replaced/)
  const third = await made(await rotateSelf(second.token))
  assert.equal((await app.fetch('/plants', withToken(third.token))).status, 200)

  const manager = await make('{"scopes":["tokens:manage"]}')
  await made(await rotateSelf(manager.token))
  assert.equal(
    (await rotateSelf(manager.token)).status,
    200,
    'tokens:manage allows it: it could create others',
  )
})

test('a create is replayed with the new secret and the same idempotency key', async () => {
  const { id, token } = await make('{"scopes":["plants:write"]}')
  const create = (secret: string) =>
    app.send('POST', '/plants', '{"id":77,"name":"Rosa"}', {
      authorization: `Bearer ${secret}`,
      'idempotency-key': 'once',
    })
  assert.equal((await create(token)).status, 200)
  assert.equal((await create((await rotate(id)).token)).status, 200)
})

test('rotating needs the scope and a stored token', async () => {
  const { id, token } = await make()
  const asked = { method: 'POST', ...withToken(token) }
  await assertErrorResponse(await app.fetch(`/tokens/${id}/rotate`, asked), 403, 40301)
  for (const unknown of ['nobody', token]) {
    await assertErrorResponse(await app.fetch(`/tokens/${unknown}/rotate`, { method: 'POST' }), 404, 40403)
  }
})

test('rotating an expired token fails, and the response says to create another token', async () => {
  const expiresAt = new Date(Date.now() + 1_500).toISOString()
  const { id, token } = await make(JSON.stringify({ scopes: ['plants:read'], expiresAt }))
  await eventually(async () => (await app.fetch('/plants', withToken(token))).status === 401)
  const response = await app.fetch(`/tokens/${id}/rotate`, { method: 'POST' })
  assert.equal(
    await assertErrorResponse(response, 400, 40004),
    'The token has expired, and rotating it would not renew it. Create another token.',
  )
})

test('rotating the fixed token fails, and the response names the setting', async () => {
  for (const id of ['configured', 'self']) {
    const message = await assertErrorResponse(
      await app.fetch(`/tokens/${id}/rotate`, { method: 'POST' }),
      404,
      40403,
    )
    assert.match(message, /PLANTSTORE_FIXED_TOKEN cannot be rotated\. Change the setting\./)
  }
})

test('an invalid grace period is rejected, and the token does not change', async () => {
  const { id, token } = await make()
  for (const value of ['-1', '2592001', '1.5', '"60"', 'null', 'true', '1e400', '18446744073709551617']) {
    const response = await app.send('POST', `/tokens/${id}/rotate`, `{"graceSeconds":${value}}`)
    const message = await assertErrorResponse(response, 400, 40003)
    assert.equal(message, 'graceSeconds must be a whole number from 0 to 2592000.', value)
  }
  await assertErrorResponse(await app.send('POST', `/tokens/${id}/rotate`, '[]'), 400, 40003)
  for (const json of ['{"grace":0}', '{"graceSeconds":0,"grace":0}']) {
    const { details } = await errorIn(await app.send('POST', `/tokens/${id}/rotate`, json), 400, 40003)
    assert.deepEqual(details.fields, [{ name: 'grace', rule: 'unknown-member' }], json)
  }
  await assertErrorResponse(await app.fetch(`/tokens/${id}/rotate?x=1`, { method: 'POST' }), 400, 40004)
  assert.equal((await self(token)).expiresAt, undefined)
})
