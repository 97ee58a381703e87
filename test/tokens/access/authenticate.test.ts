import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { FastifyRequest } from 'fastify'
import { readConfig } from '../../../src/config/read-config.ts'
import type { AppError } from '../../../src/errors.ts'
import { openStorage } from '../../../src/storage/open-storage.ts'
import { createAuthenticator } from '../../../src/tokens/access/authenticate.ts'
import { issueToken } from '../../../src/tokens/issue-token.ts'
import { generateToken, hashToken } from '../../../src/tokens/token.ts'
import type { TokenStore } from '../../../src/tokens/token-store.ts'
import { assertErrorResponse } from '../../support/http/error-body.ts'
import { startApp, TOKEN, temporaryFolder } from '../../support/http/start-app.ts'
import { openWire, requestText } from '../../support/http/wire.ts'

const app = await startApp({ after })
const storage = await openStorage(join(temporaryFolder({ after }), 'plants.db'), readConfig({}, {}))
after(() => storage.close())

const asking = (authorization: string, path = '/plants') => app.fetch(path, { headers: { authorization } })

async function challengeOf(response: Response): Promise<string | null> {
  await response.arrayBuffer()
  return response.headers.get('www-authenticate')
}

test('without a token the challenge says only which scheme is wanted (RFC 6750 §3)', async () => {
  for (const authorization of ['', 'Basic dXNlcjpwYXNz', 'Token abc', `Bearerx ${TOKEN}`, TOKEN]) {
    const response = await asking(authorization)
    await assertErrorResponse(response, 401, 40101)
    assert.equal(response.headers.get('www-authenticate'), 'Bearer realm="plantstore"', authorization)
  }
})

test('a token that is unknown, malformed or none is invalid_token', async () => {
  const wrong = [
    `Bearer ${generateToken()}`,
    `Bearer ${TOKEN}x`,
    `Bearer ${TOKEN.slice(0, -1)}`,
    `Bearer ${TOKEN.toUpperCase()}`,
    `Bearer ${TOKEN} ${TOKEN}`,
    `Bearer ${TOKEN},`,
    `Bearer "${TOKEN}"`,
    `Bearer\t${TOKEN}`,
    `Bearer ${TOKEN}=`,
    'Bearer',
    'Bearer constructor',
    'Bearer __proto__',
    'Bearer null',
    `Bearer ${'x'.repeat(10_000)}`,
    "Bearer ' OR 1=1 --",
  ]
  for (const authorization of wrong) {
    const response = await asking(authorization)
    const code = authorization === `Bearer\t${TOKEN}` ? 40101 : 40102
    await assertErrorResponse(response, 401, code)
    if (code === 40102) {
      assert.equal(
        response.headers.get('www-authenticate'),
        'Bearer realm="plantstore", error="invalid_token"',
      )
    }
  }
})

test('the scheme may be written in any case, with up to 8 spaces after it (RFC 9110 §11.4)', async () => {
  const spaces = ' '.repeat(8)
  for (const authorization of [`bearer ${TOKEN}`, `BEARER  ${TOKEN}`, `Bearer${spaces}${TOKEN}`]) {
    assert.equal((await asking(authorization)).status, 200, authorization)
  }
  await assertErrorResponse(await asking(`Bearer ${spaces}${TOKEN}`), 401, 40102)
})

test('two Authorization fields are refused, even when both hold the same good token', async (test) => {
  const wire = await openWire(test, app.port)
  const line = `Authorization: Bearer ${TOKEN}\r\n`
  wire.send(`GET /plants HTTP/1.1\r\nHost: a\r\n${line}${line}\r\n`)
  await assertErrorResponse(await wire.response(), 401, 40102)
  wire.send(`GET /plants HTTP/1.1\r\nHost: a\r\nAuthorization: Basic eA==\r\n${line}\r\n`)
  await assertErrorResponse(await wire.response(), 401, 40101)
  await wire.assertUsable()
})

test('a token in the query or the body is no token', async () => {
  await assertErrorResponse(await asking('', `/plants?access_token=${TOKEN}`), 401, 40101)
  const response = await app.fetch('/plants', {
    method: 'POST',
    headers: { authorization: '', 'content-type': 'application/x-www-form-urlencoded' },
    body: `access_token=${TOKEN}`,
  })
  await assertErrorResponse(response, 401, 40101)
})

test('a token without the scope hears which one it lacks', async () => {
  const made = await app.send('POST', '/tokens', '{"scopes":["metrics:read"]}')
  const { token } = (await made.json()) as { token: string }
  const response = await asking(`Bearer ${token}`)
  assert.equal(
    await challengeOf(response),
    'Bearer realm="plantstore", error="insufficient_scope", scope="plants:read"',
  )
  assert.match(await assertErrorResponse(await asking(`Bearer ${token}`), 403, 40301), /scope plants:read/)
})

test('an unknown path tells nothing without a token, and is 404 with any', async () => {
  const made = await app.send('POST', '/tokens', '{"scopes":["metrics:read"]}')
  const { token } = (await made.json()) as { token: string }
  for (const path of ['/nothing', '/plants/1/2', '/%zz', '//plants', `/${'x'.repeat(500)}`]) {
    await assertErrorResponse(await asking('', path), 401, 40101)
    await assertErrorResponse(await asking('Bearer wrong', path), 401, 40102)
    if (path !== '/%zz') await assertErrorResponse(await asking(`Bearer ${token}`, path), 404, 40401)
  }
  await assertErrorResponse(await asking(`Bearer ${token}`, '/%zz'), 400, 40004)
})

test('a token is judged before anything else of a request', async (test) => {
  const wire = await openWire(test, app.port)
  wire.send(requestText('POST /plants/x?y', { Authorization: '', 'Content-Type': 'a/b' }, '{'))
  await assertErrorResponse(await wire.response(), 401, 40101)
  wire.send(requestText('PURGE /plants', { Authorization: 'Bearer wrong' }))
  await assertErrorResponse(await wire.response(), 401, 40102)
})

/**
 * A new authenticator over a real store, with a token of its own and a clock that is set by hand. `responseOnItsWay` is
 * awaited between the look into the store and its response.
 */
async function newAuthenticator(responseOnItsWay = async () => {}) {
  const clock = { nowMs: Date.now() }
  const { token, stored } = await issueToken(storage.tokens, { label: '', scopes: ['plants:read'] })
  const tokens: TokenStore = {
    ...storage.tokens,
    nowMs: () => clock.nowMs,
    async findByHash(hash) {
      const found = await storage.tokens.findByHash(hash)
      await responseOnItsWay()
      return found
    },
  }
  const authenticate = createAuthenticator({ tokens })
  const codeFor = (text: string, scheme = 'Bearer ') =>
    new Promise<number | undefined>((resolve) => {
      const request = { headers: { authorization: scheme + text } } as FastifyRequest
      authenticate(request, 'plants:read', (error) => resolve((error as AppError | undefined)?.code))
    })
  return { clock, tokens, token, stored, codeFor, authenticate }
}

test('an expired token is refused, also when it was good a moment ago', async () => {
  const { clock, tokens, codeFor } = await newAuthenticator()
  const expiresAtMs = clock.nowMs + 1_000
  const { token } = await issueToken(tokens, { label: '', scopes: ['plants:read'], expiresAtMs })
  clock.nowMs = expiresAtMs - 1
  assert.equal(await codeFor(token), undefined)
  clock.nowMs = expiresAtMs
  assert.equal(await codeFor(token), 40102)
})

test('a request judged again goes on where its token has expired meanwhile, and not where it was revoked', async () => {
  const { clock, tokens, authenticate } = await newAuthenticator()
  const expiresAtMs = clock.nowMs + 1_000
  const { token, stored } = await issueToken(tokens, { label: '', scopes: ['plants:read'], expiresAtMs })
  const request = { headers: { authorization: `Bearer ${token}` } } as FastifyRequest
  const told = (judge: (done: (error?: Error) => void) => void) =>
    new Promise<number | undefined>((resolve) => judge((error) => resolve((error as AppError)?.code)))
  assert.equal(await told((done) => authenticate(request, 'plants:read', done)), undefined)
  clock.nowMs = expiresAtMs + 60_000
  assert.equal(await told((done) => authenticate.recheckToken(request, done)), undefined)
  await tokens.revoke(stored.id)
  clock.nowMs += 5_000
  assert.equal(await told((done) => authenticate.recheckToken(request, done)), 40102)
})

test('a revoked token that was just in use is refused within 5 seconds', async () => {
  const { clock, tokens, token, stored, codeFor } = await newAuthenticator()
  assert.equal(await codeFor(token), undefined)
  assert.ok(await tokens.revoke(stored.id))
  clock.nowMs += 4_900
  assert.equal(await codeFor(token), 40102)
})

test('a revoked token is refused also where the clock was set back', async () => {
  const { clock, tokens, token, stored, codeFor } = await newAuthenticator()
  assert.equal(await codeFor(token), undefined)
  assert.ok(await tokens.revoke(stored.id))
  clock.nowMs -= 3_600_000
  assert.equal(await codeFor(token), 40102)
})

test('a token that is forgotten while it is looked up is not remembered by what was found', async () => {
  const onItsWay = Promise.withResolvers<void>()
  const { tokens, token, stored, codeFor, authenticate } = await newAuthenticator(() => onItsWay.promise)
  const before = codeFor(token)
  assert.ok(await tokens.revoke(stored.id))
  authenticate.forget(stored.id)
  onItsWay.resolve()
  assert.equal(await before, undefined)
  assert.equal(await codeFor(token), 40102)
})

test('trust begins with the look into the store, however long its response takes', async () => {
  const onItsWay = Promise.withResolvers<void>()
  const { clock, tokens, token, stored, codeFor } = await newAuthenticator(() => onItsWay.promise)
  const before = codeFor(token)
  assert.ok(await tokens.revoke(stored.id))
  clock.nowMs += 4_900
  onItsWay.resolve()
  assert.equal(await before, undefined)
  assert.equal(await codeFor(token), 40102)
})

test('any number of wrong tokens crowds out no good one, and none is ever let in', async () => {
  const { tokens, token, stored, codeFor } = await newAuthenticator()
  assert.equal(await codeFor(token), undefined)
  for (let count = 0; count < 1500; count++) assert.equal(await codeFor(`wrong-${count}`), 40102)
  // Were it not remembered any more, it would be looked up, and it is gone.
  await tokens.revoke(stored.id)
  assert.equal(await codeFor(token), undefined)
})

test('a thousand spellings of one token evict no other token', async () => {
  const { tokens, token, stored, codeFor } = await newAuthenticator()
  const { token: other } = await issueToken(tokens, { label: '', scopes: ['plants:read'] })
  assert.equal(await codeFor(token), undefined)
  for (let letters = 0; letters < 64; letters++) {
    const cased = [...'bearer'].map((letter, at) => ((letters >> at) & 1 ? letter.toUpperCase() : letter))
    for (let spaces = 1; spaces <= 20; spaces++) {
      const code = await codeFor(other, cased.join('') + ' '.repeat(spaces))
      assert.equal(code, spaces <= 8 ? undefined : 40102)
    }
  }
  // Were it evicted, it would be looked up, and it is gone.
  await tokens.revoke(stored.id)
  assert.equal(await codeFor(token), undefined)
  assert.equal(await codeFor(token, 'BEARER   '), undefined, 'one entry for every spelling')
})

test('a token that was refused is let in as soon as it exists', async () => {
  const { tokens, codeFor } = await newAuthenticator()
  const token = generateToken()
  assert.equal(await codeFor(token), 40102)
  await tokens.create({ id: 'late', label: '', scopes: ['plants:read'], createdAtMs: 0 }, hashToken(token))
  assert.equal(await codeFor(token), undefined)
})

test('the last use is noted to the minute', async () => {
  const { clock, tokens, token, stored, codeFor } = await newAuthenticator()
  const lastUse = async () => {
    // A write behind it: writes take effect in their order.
    await tokens.revoke('nobody')
    return (await tokens.list()).find(({ id }) => id === stored.id)?.lastUsedAtMs
  }
  const firstMs = clock.nowMs
  await codeFor(token)
  assert.equal(await lastUse(), firstMs)
  clock.nowMs += 59_000
  await codeFor(token)
  assert.equal(await lastUse(), firstMs)
  clock.nowMs += 1_000
  await codeFor(token)
  assert.equal(await lastUse(), clock.nowMs)
})
