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
import { temporaryFolder } from '../../support/http/start-app.ts'

const storage = await openStorage(join(temporaryFolder({ after }), 'plants.db'), readConfig({}, {}))
after(() => storage.close())

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

test('an expired token is rejected, even if it was valid a moment ago', async () => {
  const { clock, tokens, codeFor } = await newAuthenticator()
  const expiresAtMs = clock.nowMs + 1_000
  const { token } = await issueToken(tokens, { label: '', scopes: ['plants:read'], expiresAtMs })
  clock.nowMs = expiresAtMs - 1
  assert.equal(await codeFor(token), undefined)
  clock.nowMs = expiresAtMs
  assert.equal(await codeFor(token), 40102)
})

test('a recheck accepts a token that has expired since, and rejects one that was revoked', async () => {
  const { clock, tokens, authenticate } = await newAuthenticator()
  const expiresAtMs = clock.nowMs + 1_000
  const { token, stored } = await issueToken(tokens, { label: '', scopes: ['plants:read'], expiresAtMs })
  const request = { headers: { authorization: `Bearer ${token}` } } as FastifyRequest
  const codeOf = (check: (done: (error?: Error) => void) => void) =>
    new Promise<number | undefined>((resolve) => check((error) => resolve((error as AppError)?.code)))
  assert.equal(await codeOf((done) => authenticate(request, 'plants:read', done)), undefined)
  clock.nowMs = expiresAtMs + 60_000
  assert.equal(await codeOf((done) => authenticate.recheckToken(request, done)), undefined)
  await tokens.revoke(stored.id)
  clock.nowMs += 5_000
  assert.equal(await codeOf((done) => authenticate.recheckToken(request, done)), 40102)
})

test('a revoked token that was just in use is rejected within 5 seconds', async () => {
  const { clock, tokens, token, stored, codeFor } = await newAuthenticator()
  assert.equal(await codeFor(token), undefined)
  assert.ok(await tokens.revoke(stored.id))
  clock.nowMs += 4_900
  assert.equal(await codeFor(token), 40102)
})

test('a revoked token is rejected even if the clock was set back', async () => {
  const { clock, tokens, token, stored, codeFor } = await newAuthenticator()
  assert.equal(await codeFor(token), undefined)
  assert.ok(await tokens.revoke(stored.id))
  clock.nowMs -= 3_600_000
  assert.equal(await codeFor(token), 40102)
})

test('a token that is forgotten during its lookup is not cached', async () => {
  const onItsWay = Promise.withResolvers<void>()
  const { tokens, token, stored, codeFor, authenticate } = await newAuthenticator(() => onItsWay.promise)
  const before = codeFor(token)
  assert.ok(await tokens.revoke(stored.id))
  authenticate.forget(stored.id)
  onItsWay.resolve()
  assert.equal(await before, undefined)
  assert.equal(await codeFor(token), 40102)
})

test('a token is cached from the start of its lookup, however long that takes', async () => {
  const onItsWay = Promise.withResolvers<void>()
  const { clock, tokens, token, stored, codeFor } = await newAuthenticator(() => onItsWay.promise)
  const before = codeFor(token)
  assert.ok(await tokens.revoke(stored.id))
  clock.nowMs += 4_900
  onItsWay.resolve()
  assert.equal(await before, undefined)
  assert.equal(await codeFor(token), 40102)
})

test('wrong tokens are rejected and evict no valid one from the cache, however many there are', async () => {
  const { tokens, token, stored, codeFor } = await newAuthenticator()
  assert.equal(await codeFor(token), undefined)
  for (let count = 0; count < 1500; count++) assert.equal(await codeFor(`wrong-${count}`), 40102)
  // Were it evicted, it would be looked up, and it does not exist any more.
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
  // Were it evicted, it would be looked up, and it does not exist any more.
  await tokens.revoke(stored.id)
  assert.equal(await codeFor(token), undefined)
  assert.equal(await codeFor(token, 'BEARER   '), undefined, 'one entry for every spelling')
})

test('a token that was rejected is accepted once it exists', async () => {
  const { tokens, codeFor } = await newAuthenticator()
  const token = generateToken()
  assert.equal(await codeFor(token), 40102)
  await tokens.create({ id: 'late', label: '', scopes: ['plants:read'], createdAtMs: 0 }, hashToken(token))
  assert.equal(await codeFor(token), undefined)
})

test('the last use is recorded to the minute', async () => {
  const { clock, tokens, token, stored, codeFor } = await newAuthenticator()
  const lastUse = async () => {
    // A write after it: writes take effect in order.
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
