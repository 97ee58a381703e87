import assert from 'node:assert/strict'
import { createPublicKey, type JsonWebKeyInput } from 'node:crypto'
import { after, test } from 'node:test'
import { type JWTPayload, SignJWT, UnsecuredJWT } from 'jose'
import { SetupError } from '../../src/errors.ts'
import { assertErrorResponse } from '../support/http/error-body.ts'
import { startApp, TOKEN } from '../support/http/start-app.ts'
import { AUDIENCE, newKey, startOpenIdProvider } from '../support/openid-provider.ts'
import { runPlantstore } from '../support/process/plantstore-process.ts'

const provider = await startOpenIdProvider({ after })
const SETTINGS = { PLANTSTORE_OIDC_ISSUER: provider.issuer, PLANTSTORE_OIDC_AUDIENCE: AUDIENCE }
const app = await startApp({ after }, SETTINGS)

const withToken = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })
const fetchWith = (token: string, path = '/plants') => app.fetch(path, withToken(token))
const now = () => Math.floor(Date.now() / 1000)

interface Self {
  id: string
  label: string
  scopes: string[]
  expiresAt: string
}

const self = async (token: string) => (await (await fetchWith(token, '/tokens/self')).json()) as Self

async function assertRejected(token: string, message: RegExp): Promise<void> {
  const response = await fetchWith(token)
  assert.match(await assertErrorResponse(response, 401, 40102), message)
  assert.equal(response.headers.get('www-authenticate'), 'Bearer realm="plantstore", error="invalid_token"')
}

test('an access token of the provider has exactly its scopes', async () => {
  const token = await provider.accessToken()
  assert.equal((await fetchWith(token)).status, 200)
  const { id, label, scopes, expiresAt } = await self(token)
  assert.match(id, /^oidc:[0-9a-f]{32}$/)
  assert.deepEqual([label, scopes], ['greenhouse', ['plants:read', 'plants:write']])
  assert.ok(Math.abs(Date.parse(expiresAt) - Date.now() - 330_000) < 20_000, expiresAt)
  const response = await fetchWith(token, '/tokens')
  assert.match(await assertErrorResponse(response, 403, 40301), /scope tokens:manage/)
  const reader = await provider.accessToken('plants:read')
  const headers = { ...withToken(reader).headers, 'content-type': 'application/json' }
  const create = await app.fetch('/plants', { method: 'POST', body: '{"id":1,"name":"Rosa"}', headers })
  await assertErrorResponse(create, 403, 40301)
})

test('a renewed token is the same caller and keeps its idempotency keys', async () => {
  const [one, two] = [await provider.accessToken(), await provider.accessToken()]
  assert.notEqual(one, two)
  assert.equal((await self(one)).id, (await self(two)).id)
  assert.notEqual((await self(await provider.sign({ sub: 'another' }))).id, (await self(one)).id)
  for (const token of [one, two]) {
    const response = await app.send('POST', '/plants', '{"id":2,"name":"Rosa"}', {
      authorization: `Bearer ${token}`,
      'idempotency-key': 'once',
    })
    assert.equal(response.status, 200)
  }
})

test('a token that is not for this service is rejected with the reason', async () => {
  const cases: [Record<string, unknown>, RegExp][] = [
    [{ exp: now() - 35 }, /^The token has expired\.$/],
    [{ nbf: now() + 60 }, /not valid yet \(nbf\)/],
    [{ aud: 'https://other.example' }, /another audience \(aud\) than https:\/\/plants\.example/],
    [{ aud: [] }, /another audience/],
    [{ aud: undefined }, /lacks the claim aud/],
    [{ iss: 'https://other.example' }, /another issuer \(iss\)/],
    [{ iss: `${provider.issuer}/` }, /another issuer/],
    [{ iss: undefined }, /another issuer/],
    [{ exp: undefined }, /lacks the claim exp/],
    [{ exp: 'never' }, /claim exp of the token is wrong/],
    [{ sub: undefined }, /lacks the claim sub/],
    [{ sub: 7 }, /has no subject \(sub\)/],
    [{ sub: '' }, /has no subject \(sub\)/],
    [{ at_hash: 'x' }, /not an access token/],
    [{ typ: 'ID' }, /not an access token/],
    [{ cnf: { jkt: 'x' } }, /bound to a key/],
  ]
  for (const [claims, message] of cases) await assertRejected(await provider.sign(claims), message)
  await assertRejected(await provider.sign({}, { typ: 'logout+jwt' }), /not an access token/)
})

test('clocks may differ by half a minute, and a token may have several audiences', async () => {
  const good: [Record<string, unknown>, Record<string, unknown>?][] = [
    [{ exp: now() - 20 }],
    [{ nbf: now() + 20 }],
    [{ iat: now() + 3600 }],
    [{ aud: ['other', AUDIENCE] }],
    [{ exp: 1e15, iat: -1 }],
    [{}, { typ: 'JWT' }],
    [{}, { typ: 'application/at+jwt' }],
    [{}, { typ: undefined }],
  ]
  for (const [claims, header] of good) {
    const token = await provider.sign(claims, header)
    assert.equal((await fetchWith(token, '/tokens/self')).status, 200, JSON.stringify([claims, header]))
    assert.equal((await fetchWith(token)).status, 200)
  }
})

test('a token that is not signed by the provider is rejected', async () => {
  const good = await provider.sign()
  const [header = '', payload = '', signature = ''] = good.split('.')
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as JWTPayload
  const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const more = encoded({ ...claims, scope: 'plants:read tokens:manage' })
  await assertRejected(`${header}.${more}.${signature}`, /signature of the token is wrong/)
  const flipped = signature.startsWith('A') ? `B${signature.slice(1)}` : `A${signature.slice(1)}`
  await assertRejected(`${header}.${payload}.${flipped}`, /signature of the token is wrong/)
  await assertRejected(`${header}.${payload}.`, /signature|not a valid JWT/)
  await assertRejected(new UnsecuredJWT(claims).encode(), /not signed with one of RS256/)
  await assertRejected(`${encoded({ alg: 'NONE' })}.${payload}.`, /not signed with one of/)
  const critical = encoded({ alg: 'RS256', kid: provider.key.kid, crit: ['x'], x: 1 })
  await assertRejected(`${critical}.${payload}.${signature}`, /not a valid JWT/)

  // A foreign key under the name of the key of the provider, and in the header itself.
  const stranger = await newKey(provider.key.kid)
  await assertRejected(await provider.sign({}, {}, stranger), /signature of the token is wrong/)
  const unknown = await newKey('unknown')
  const jwk = { kty: 'RSA', n: unknown.n, e: unknown.e }
  await assertRejected(await provider.sign({}, { jwk }, unknown), /does not publish/)
})

test('the published key is not accepted as a shared secret (RFC 8725 §2.1)', async () => {
  const key = createPublicKey({ key: provider.key as JsonWebKeyInput['key'], format: 'jwk' })
  for (const secret of [key.export({ type: 'spki', format: 'pem' }), JSON.stringify(provider.key.n)]) {
    const token = await new SignJWT({ iss: provider.issuer, aud: AUDIENCE, sub: 'a', exp: now() + 60 })
      .setProtectedHeader({ alg: 'HS256', kid: provider.key.kid })
      .sign(Buffer.from(secret))
    await assertRejected(token, /not signed with one of RS256/)
  }
})

test('a malformed JWT is rejected like any other token', async () => {
  const large = 'x'.repeat(5_000)
  const looking = [
    'a.b.c',
    '..',
    'a..',
    `${large}.${large}.${large}`,
    'eyJhbGciOiJSUzI1NiJ9.W10.x',
    'a.b.c.d.e',
  ]
  for (const text of looking) {
    const message = await assertErrorResponse(await fetchWith(text), 401, 40102)
    assert.match(message, /not a valid JWT|another issuer|is unknown/, text.slice(0, 20))
  }
})

test('tokens of the store, and a fixed one with dots, work as well', async (context) => {
  const dotted = 'fixed.token.with-dots'
  const other = await startApp(context, { ...SETTINGS, PLANTSTORE_FIXED_TOKEN: dotted })
  assert.equal((await other.fetch('/plants', withToken(dotted))).status, 200)
  assert.equal((await fetchWith(TOKEN)).status, 200)
  const made = await app.send('POST', '/tokens', '{"scopes":["plants:read"]}')
  const { token } = (await made.json()) as { token: string }
  assert.equal((await fetchWith(token)).status, 200)
})

test('a token of the provider cannot be rotated', async () => {
  const rotation = { method: 'POST', ...withToken(await provider.sign()) }
  const response = await app.fetch('/tokens/self/rotate', rotation)
  assert.match(await assertErrorResponse(response, 404, 40403), /not in this store/)
})

test('the log has the subject of the provider token that created a token', async () => {
  const token = await provider.sign({ sub: 'the gardener', scope: 'tokens:manage' })
  const authorization = `Bearer ${token}`
  const made = await app.send('POST', '/tokens', '{"scopes":["plants:read"]}', { authorization })
  const { id } = (await made.json()) as { id: string }
  const line = app.log.find(({ event, tokenId }) => event === 'token.created' && tokenId === id)
  assert.deepEqual([line?.callerId, line?.callerLabel], [(await self(token)).id, 'the gardener'])
})

test('the label from a subject is one line of text, whatever its characters', async () => {
  const { label } = await self(await provider.sign({ sub: `a\nb\u0000\u2028\u202e${'🌱'.repeat(200)}` }))
  assert.equal(label, `a\ufffdb\ufffd\ufffd\ufffd${'🌱'.repeat(194)}`)
})

test('the command line sends a JWT like any other token', async (context) => {
  const token = await provider.sign({ groups: Array.from({ length: 100 }, (_, at) => `group-${at}`) })
  const environment = { PLANTSTORE_URL: app.url, PLANTSTORE_TOKEN: token }
  const { code, stderr } = await runPlantstore(context, ['list'], { environment })
  assert.deepEqual([code, stderr], [0, ''])
})

test('a service without a provider rejects JWTs', async (context) => {
  const plain = await startApp(context)
  const response = await plain.fetch('/plants', withToken(await provider.sign()))
  assert.match(await assertErrorResponse(response, 401, 40102), /is unknown/)
})

test('roles of the provider in the configured claim are mapped to scopes', async (context) => {
  const mapped = await startApp(context, {
    ...SETTINGS,
    PLANTSTORE_OIDC_SCOPE_CLAIM: 'realm_access.roles',
    PLANTSTORE_OIDC_SCOPE_MAP: 'plants:read=viewer,plants:read=editor, plants:write=editor',
  })
  const scopesOf = async (roles: unknown) => {
    const token = await provider.sign({ realm_access: { roles }, scope: 'tokens:manage' })
    const response = await mapped.fetch('/tokens/self', withToken(token))
    return ((await response.json()) as Self).scopes
  }
  assert.deepEqual(await scopesOf(['editor', 'other']), ['plants:read', 'plants:write'])
  assert.deepEqual(await scopesOf(['viewer']), ['plants:read'])
  assert.deepEqual(await scopesOf(['plants:write']), [], 'mapped names alone count')
})

test('settings of a provider without its issuer fail the start', async (context) => {
  for (const [name, value] of [
    ['PLANTSTORE_OIDC_AUDIENCE', 'a'],
    ['PLANTSTORE_OIDC_SCOPE_MAP', 'plants:read=viewer'],
    ['PLANTSTORE_OIDC_SCOPE_CLAIM', 'roles'],
  ] as const) {
    await assert.rejects(
      startApp(context, { [name]: value }),
      (error) =>
        error instanceof SetupError && error.message.startsWith(`${name} needs PLANTSTORE_OIDC_ISSUER: `),
    )
  }
})

test('a start with only an issuer names the other required settings', async (context) => {
  const start = (settings: Record<string, string>) =>
    startApp(context, { PLANTSTORE_OIDC_ISSUER: provider.issuer, ...settings })
  const isSetupError = (message: RegExp) => (error: unknown) =>
    error instanceof SetupError && message.test(error.message)
  await assert.rejects(start({}), isSetupError(/^PLANTSTORE_OIDC_ISSUER needs PLANTSTORE_OIDC_AUDIENCE: /))
  await assert.rejects(
    start({ PLANTSTORE_OIDC_AUDIENCE: 'a', PLANTSTORE_OIDC_SCOPE_MAP: 'plants:raed=viewer' }),
    isSetupError(/^PLANTSTORE_OIDC_SCOPE_MAP must be pairs such as .* plants:read, plants:write, /),
  )
})
