import assert from 'node:assert/strict'
import { createSign, generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { SignJWT } from 'jose'
import { AppError } from '../../src/errors.ts'
import { parseScopeMapping } from '../../src/identity/granted-scopes.ts'
import { createOpenIdTokens } from '../../src/identity/openid-tokens.ts'
import { AUDIENCE, newKey, type ProviderKey } from '../support/openid-provider.ts'

type SendResponse = (response: ServerResponse, issuer: string) => void

const json =
  (value: unknown): SendResponse =>
  (response) =>
    response.end(JSON.stringify(value))
const discovered: SendResponse = (response, issuer) =>
  json({ issuer, jwks_uri: `${issuer}/jwks` })(response, issuer)

interface ProviderResponses {
  discovery?: SendResponse
  keys: SendResponse
  fetchTimeoutMs?: number
}

/** A provider with invalid responses, a verifier that uses it, and the logged reasons. */
async function start(
  test: TestContext,
  { discovery = discovered, keys, fetchTimeoutMs = 10_000 }: ProviderResponses,
) {
  const server = createServer((request, response) => {
    if (request.url === '/.well-known/openid-configuration') discovery(response, issuer)
    else keys(response, issuer)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  test.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const logged: string[] = []
  const verify = createOpenIdTokens({
    issuer,
    audience: AUDIENCE,
    scopeClaim: 'scope',
    scopes: parseScopeMapping(undefined),
    log: { error: ({ reason }: { reason: string }) => void logged.push(reason), info() {} } as never,
    fetchTimeoutMs,
  })
  const sign = (key: ProviderKey) =>
    new SignJWT({ iss: issuer, aud: AUDIENCE, sub: 'somebody', scope: 'plants:read' })
      .setProtectedHeader({ alg: key.alg, kid: key.kid })
      .setExpirationTime('5 minutes')
      .sign(key)
  return { verify, sign, logged }
}

function publicPart({ d, p, q, dp, dq, qi, ...rest }: ProviderKey) {
  return rest
}

const key = await newKey('the-key')
const goodKeys = json({ keys: [publicPart(key)] })

const WRONG: [what: string, responses: ProviderResponses, logged: RegExp][] = [
  ['is not JSON', { discovery: (response) => response.end('<html>'), keys: goodKeys }, /not valid JSON/],
  ['is not an object', { discovery: json(null), keys: goodKeys }, /is not a JSON object/],
  [
    'is missing',
    { discovery: (response) => response.writeHead(404).end(), keys: goodKeys },
    /openid-configuration responded with 404$/,
  ],
  [
    'is elsewhere',
    { discovery: (response) => response.writeHead(302, { location: '/jwks' }).end(), keys: goodKeys },
    /responded with 302$/,
  ],
  [
    'never ends',
    { discovery: (response) => response.write('{'), keys: goodKeys, fetchTimeoutMs: 200 },
    /timeout/,
  ],
  ['never begins', { discovery: () => {}, keys: goodKeys, fetchTimeoutMs: 200 }, /timeout/],
  [
    'is far too large',
    { discovery: (response) => response.end(Buffer.alloc(1024 * 1024 + 1, ' ')), keys: goodKeys },
    /more than 1048576 bytes/,
  ],
  [
    'sends elsewhere without TLS',
    {
      discovery: (response, issuer) =>
        json({ issuer, jwks_uri: 'http://keys.example/jwks' })(response, issuer),
      keys: goodKeys,
    },
    /jwks_uri is not an https URL/,
  ],
  [
    'names no keys',
    { discovery: (response, issuer) => json({ issuer })(response, issuer), keys: goodKeys },
    /jwks_uri is not an https URL/,
  ],
  ['has invalid keys', { keys: json({ keys: 'none' }) }, /has no set of keys/],
  [
    'has keys that respond with an error',
    { keys: (response) => response.writeHead(500).end() },
    /jwks responded with 500$/,
  ],
]

for (const [what, responses, message] of WRONG) {
  test(`a provider whose document ${what} counts as unavailable, and the log has the reason`, async (context) => {
    const { verify, sign, logged } = await start(context, responses)
    const error: unknown = await verify(await sign(key)).catch((thrown: unknown) => thrown)
    assert.ok(error instanceof AppError && error.code === 50302, String(error))
    assert.doesNotMatch(error.message, /127\.0\.0\.1|http/)
    assert.equal(logged.length, 1)
    assert.match(logged[0] ?? '', message)
  })
}

test('every kind of key in the list of algorithms is verified', async (context) => {
  const algorithms = ['RS256', 'PS384', 'ES256', 'ES512', 'EdDSA']
  const keys = await Promise.all(algorithms.map((algorithm) => newKey(algorithm, algorithm)))
  const { verify, sign } = await start(context, { keys: json({ keys: keys.map(publicPart) }) })
  for (const each of keys) {
    assert.deepEqual((await verify(await sign(each))).scopes, ['plants:read'], each.alg)
  }
})

test('a secret or private key in the published set verifies no token', async (context) => {
  const secret = Buffer.from('a secret that was published by mistake')
  const oct = { kty: 'oct', k: secret.toString('base64url'), kid: 'oct', alg: 'HS256' }
  const { verify, sign } = await start(context, { keys: json({ keys: [oct, key] }) })
  const isAppError = (error: unknown) => error instanceof AppError
  await assert.rejects(verify(await sign(key)), isAppError)
  await assert.rejects(verify(await sign({ ...oct } as ProviderKey)), isAppError)
})

test('keys of an unknown kind do not prevent the use of others', async (context) => {
  const strange = { kty: 'LATTICE', kid: 'strange', alg: 'LATTICE-7' }
  const { verify, sign } = await start(context, { keys: json({ keys: [strange, publicPart(key)] }) })
  assert.deepEqual((await verify(await sign(key))).scopes, ['plants:read'])
})

test('a token with a weak or damaged published key is rejected as such, and other keys still work', async (context) => {
  const pair = generateKeyPairSync('rsa', { modulusLength: 1024 })
  const weak = pair.publicKey.export({ format: 'jwk' })
  const published = { ...weak, kid: 'weak', alg: 'RS256' }
  const damaged = { ...publicPart(await newKey('damaged', 'ES256')), x: 'AA' }
  const keys = [published, damaged, publicPart(key)]
  const { verify, sign } = await start(context, { keys: json({ keys }) })
  const good = await sign(key)
  const [, claims] = good.split('.')
  const signWeakly = (header: object) => {
    const text = `${Buffer.from(JSON.stringify(header)).toString('base64url')}.${claims}`
    return `${text}.${createSign('sha256').update(text).sign(pair.privateKey, 'base64url')}`
  }
  const isUnusableKey = { code: 40102, message: /a key of the OpenID provider that is too weak or damaged/ }
  await assert.rejects(verify(signWeakly({ alg: 'RS256', kid: 'weak' })), isUnusableKey)
  await assert.rejects(verify(signWeakly({ alg: 'ES256', kid: 'damaged' })), isUnusableKey)
  await assert.rejects(verify(signWeakly({ alg: 'RS256' })), { code: 40102 })
  assert.deepEqual((await verify(good)).scopes, ['plants:read'])
  // Without a key name every matching key is tried, the weak one first.
  assert.deepEqual((await verify(await sign({ ...key, kid: undefined } as never))).scopes, ['plants:read'])
})
