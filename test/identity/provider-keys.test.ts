import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { AppError } from '../../src/errors.ts'
import { parseScopeMapping } from '../../src/identity/granted-scopes.ts'
import { createOpenIdTokens, type OpenIdTokensOptions } from '../../src/identity/openid-tokens.ts'
import { eventually } from '../support/eventually.ts'
import { startApp } from '../support/http/start-app.ts'
import { AUDIENCE, newKey, type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts'

const DISCOVERY = '/.well-known/openid-configuration'

/** A verifier that fetches keys without a cooldown by default, and its log lines. */
function newVerifier({ issuer }: Pick<OpenIdProvider, 'issuer'>, options: Partial<OpenIdTokensOptions> = {}) {
  const logged: string[] = []
  const record =
    (level: string) =>
    ({ reason }: { reason?: string }, text?: string) =>
      void logged.push(`${level}: ${text} ${reason ?? ''}`)
  const verify = createOpenIdTokens({
    issuer,
    audience: AUDIENCE,
    scopeClaim: 'scope',
    scopes: parseScopeMapping(undefined),
    log: { error: record('error'), info: record('info') } as never,
    cooldownMs: 0,
    retryAfterMs: 0,
    ...options,
  })
  const codeFor = (token: string) =>
    verify(token).then(
      () => 'good' as const,
      (error: unknown) => {
        assert.ok(error instanceof AppError, String(error))
        return error.code
      },
    )
  return { verify, codeFor, logged }
}

async function start(test: TestContext, options: Partial<OpenIdTokensOptions> = {}) {
  const provider = await startOpenIdProvider(test)
  return { provider, ...newVerifier(provider, options) }
}

test('keys are fetched once at the start for all tokens that they verify', async (context) => {
  const { provider, codeFor } = await start(context)
  const tokens = [
    await provider.sign(),
    await provider.sign({ sub: 'another' }),
    await provider.accessToken(),
  ]
  for (const token of [...tokens, ...tokens]) assert.equal(await codeFor(token), 'good')
  assert.deepEqual(
    provider.requests().filter((path) => path !== '/token'),
    [DISCOVERY, '/jwks'],
  )
})

test('a token with a new key is valid at once, and tokens with the old key are rejected', async (context) => {
  const { provider, codeFor } = await start(context)
  const old = await provider.sign()
  assert.equal(await codeFor(old), 'good')
  await provider.changeKey()
  assert.equal(await codeFor(await provider.accessToken()), 'good')
  assert.equal(await codeFor(old), 40102)
})

test('the same holds for a new key under the old name', async (context) => {
  const { provider, codeFor } = await start(context)
  const old = await provider.sign()
  assert.equal(await codeFor(old), 'good')
  await provider.changeKey(provider.key.kid)
  assert.equal(await codeFor(await provider.accessToken()), 'good')
  assert.equal(await codeFor(old), 40102)
})

test('a token whose key was withdrawn is rejected at once if the provider responds', async (t) => {
  const { provider, codeFor } = await start(t, { keysAgeMaxMs: 0 })
  const old = await provider.sign()
  assert.equal(await codeFor(old), 'good')
  await provider.changeKey()
  assert.equal(await codeFor(old), 40102)
})

test('a token without a key name is verified with each published key', async (context) => {
  const { provider, codeFor } = await start(context)
  assert.equal(await codeFor(await provider.sign({}, { kid: undefined })), 'good')
  const stranger = await newKey()
  assert.equal(await codeFor(await provider.sign({}, { kid: undefined }, stranger)), 40102)
})

test('invented tokens do not cause requests to the provider', async (context) => {
  const { provider, codeFor } = await start(context, { cooldownMs: 60_000 })
  assert.equal(await codeFor(await provider.sign()), 'good')
  provider.requests()
  const stranger = await newKey('stranger')
  const impostor = await newKey(provider.key.kid)
  const tokens = await Promise.all([
    ...Array.from({ length: 20 }, (_, at) => provider.sign({}, { kid: `made up ${at}` }, stranger)),
    ...Array.from({ length: 20 }, (_, at) => provider.sign({ sub: `${at}` }, {}, impostor)),
  ])
  for (const token of tokens) assert.equal(await codeFor(token), 40102)
  assert.deepEqual(provider.requests(), [])
})

test('a token of another issuer causes no request to the provider', async (context) => {
  const { provider, codeFor } = await start(context)
  assert.equal(await codeFor(await provider.sign()), 'good')
  provider.requests()
  assert.equal(await codeFor(await provider.sign({ iss: 'https://a.example' }, {}, await newKey())), 40102)
  assert.deepEqual(provider.requests(), [])
})

test('while the provider is down, verified tokens work until they expire, and new ones are 50302', async (context) => {
  const { provider, codeFor, logged } = await start(context, { keysAgeMaxMs: 0 })
  const old = await provider.sign()
  // The leeway is half a minute.
  const brief = await provider.sign({ exp: Math.floor(Date.now() / 1000) - 25 })
  const later = await provider.sign({ sub: 'later' })
  for (const token of [old, brief]) assert.equal(await codeFor(token), 'good')
  await provider.stop()
  assert.equal(await codeFor(later), 50302)
  for (let count = 0; count < 3; count++) assert.equal(await codeFor(old), 'good')
  await eventually(async () => (await codeFor(brief)) !== 'good', 20_000)
  assert.equal(await codeFor(old), 'good')
  assert.equal(logged.length, 1, 'logged once')
  assert.match(logged[0] ?? '', /^error: the OpenID provider does not respond correctly.*fetch failed/)

  await provider.start()
  await eventually(async () => (await codeFor(later)) === 'good')
  assert.match(logged[1] ?? '', /^info: the OpenID provider responds again/)
})

test('a failed request to the provider is not repeated at once', async (context) => {
  const { provider, codeFor } = await start(context, { keysAgeMaxMs: 0, retryAfterMs: 60_000 })
  assert.equal(await codeFor(await provider.sign()), 'good')
  const token = await provider.sign({ sub: 'later' })
  await provider.stop()
  assert.equal(await codeFor(token), 50302)
  await provider.start()
  provider.requests()
  assert.equal(await codeFor(token), 50302)
  assert.deepEqual(provider.requests(), [])
})

test('the service starts without its provider, logs that, and accepts its tokens once it responds', async (context) => {
  const provider = await startOpenIdProvider(context)
  const token = await provider.sign()
  await provider.stop()
  const app = await startApp(context, {
    PLANTSTORE_OIDC_ISSUER: provider.issuer,
    PLANTSTORE_OIDC_AUDIENCE: AUDIENCE,
  })
  const fetchPlants = () => app.fetch('/plants', { headers: { authorization: `Bearer ${token}` } })
  assert.equal((await app.fetch('/plants')).status, 200, 'its own tokens need no provider')
  const response = await fetchPlants()
  assert.deepEqual([response.status, response.headers.get('retry-after')], [503, '2'])
  const { error, message } = (await response.json()) as { error: number; message: string }
  assert.equal(error, 50302)
  assert.match(message, /^The OpenID provider does not respond/)
  const logged = app.log.filter(({ msg }) => String(msg).startsWith('the OpenID provider'))
  assert.deepEqual(
    logged.map(({ level, issuer }) => [level, issuer]),
    [[50, provider.issuer]],
  )
  assert.match(String(logged[0]?.reason), /^fetch failed: connect ECONNREFUSED /)
  const rejected = app.log.filter((line) => line.error === 50302)
  assert.equal(rejected.length, 1)
  assert.ok(!('cause' in (rejected[0] ?? {})), 'any client can send tokens: no stack trace for each')
  await provider.start()
  await eventually(async () => (await fetchPlants()).status === 200, 10_000)
})

test('a provider with another issuer is not used, and the log has the setting to change', async (context) => {
  const provider = await startOpenIdProvider(context)
  const { codeFor, logged } = newVerifier({ issuer: `${provider.issuer}/` })
  assert.equal(await codeFor(await provider.sign({ iss: `${provider.issuer}/` })), 50302)
  assert.match(logged[0] ?? '', /its issuer is "http:\S+": set PLANTSTORE_OIDC_ISSUER to exactly that/)
})

test('a provider is requested again in time even after the clock was set back', async (context) => {
  const provider = await startOpenIdProvider(context)
  const token = await provider.sign()
  await provider.stop()
  const { codeFor } = newVerifier(provider, { retryAfterMs: 100 })
  assert.equal(await codeFor(token), 50302)
  context.mock.timers.enable({ apis: ['Date'], now: Date.now() - 30_000 })
  await provider.start()
  await eventually(async () => (await codeFor(token)) === 'good')
})
