import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { hashToken, SCOPES, type StoredToken } from '../../src/tokens/token.ts'
import { keepTrying } from '../support/keep-trying.ts'
import { type OpenStorage, type SharedStorage, shareStorage } from './opened-storage.ts'

const TOKEN: StoredToken = {
  id: 'token-1',
  label: 'the greenhouse',
  scopes: ['plants:read'],
  createdAtMs: 1_770_000_000_000,
}

/** Every promise of TokenStore, to be kept by every engine. */
export function tokenStoreSuite(name: string, open: OpenStorage): void {
  describe(`Tokens in ${name}`, () => {
    const shared = shareStorage(open)

    test('a token is found by its own hash only, as it was stored', async () => {
      const { tokens } = shared
      const all: StoredToken[] = [
        TOKEN,
        { ...TOKEN, id: 'token-2', label: '', scopes: SCOPES, expiresAtMs: TOKEN.createdAtMs + 1 },
        { ...TOKEN, id: 'token-3', label: `Gärtner's "🌱"\n${'l'.repeat(200)}`, scopes: [] },
      ]
      for (const token of all) await tokens.create(token, hashToken(token.id))
      for (const token of all) assert.deepEqual(await tokens.findByHash(hashToken(token.id)), token)
      for (const hash of [
        '',
        'token-1',
        hashToken('other'),
        hashToken('token-1').toUpperCase(),
        'constructor',
      ]) {
        assert.equal(await tokens.findByHash(hash), undefined)
      }
      assert.deepEqual(await tokens.list(), all)
    })

    test('a first token is stored only if there is none', async () => {
      const { tokens } = shared
      assert.equal(await tokens.createFirst(TOKEN, hashToken('a')), true)
      assert.equal(await tokens.createFirst({ ...TOKEN, id: 'token-2' }, hashToken('b')), false)
      assert.deepEqual(await tokens.findByHash(hashToken('a')), TOKEN)
      assert.deepEqual(await tokens.list(), [TOKEN])
    })

    test('an expired token is still found and listed, as the storage does not check expiry', async () => {
      const { tokens } = shared
      const expired = { ...TOKEN, expiresAtMs: TOKEN.createdAtMs - 1 }
      await tokens.create(expired, hashToken('a'))
      assert.deepEqual(await tokens.findByHash(hashToken('a')), expired)
      assert.deepEqual(await tokens.list(), [expired])
    })

    test('tokens are listed oldest first', async () => {
      const { tokens } = shared
      assert.deepEqual(await tokens.list(), [])
      for (const [at, id] of ['c', 'a', 'd', 'b'].entries()) {
        await tokens.create({ ...TOKEN, id, createdAtMs: TOKEN.createdAtMs - at }, hashToken(id))
      }
      assert.deepEqual(
        (await tokens.list()).map(({ id }) => id),
        ['b', 'd', 'a', 'c'],
      )
    })

    test('a revoked token is deleted, and the others stay', async () => {
      const { tokens } = shared
      await tokens.create(TOKEN, hashToken('a'))
      await tokens.create({ ...TOKEN, id: 'token-2' }, hashToken('b'))
      assert.equal(await tokens.revoke(TOKEN.id), true)
      assert.equal(await tokens.findByHash(hashToken('a')), undefined)
      assert.equal(await tokens.revoke(TOKEN.id), false)
      assert.equal(await tokens.revoke('never there'), false)
      assert.equal((await tokens.findByHash(hashToken('b')))?.id, 'token-2')
      assert.deepEqual(
        (await tokens.list()).map(({ id }) => id),
        ['token-2'],
      )
      // A late note of its use does not bring it back.
      tokens.recordUse(TOKEN.id, TOKEN.createdAtMs + 5)
      await tokens.create({ ...TOKEN, id: 'token-3' }, hashToken('c'))
      assert.equal(await tokens.findByHash(hashToken('a')), undefined)
    })

    rotationTests(shared)

    test('the use of a token is recorded soon', async () => {
      const { tokens } = shared
      await tokens.create(TOKEN, hashToken('a'))
      assert.equal(Object.hasOwn((await tokens.findByHash(hashToken('a'))) ?? {}, 'lastUsedAtMs'), false)
      for (const usedAtMs of [TOKEN.createdAtMs + 60_000, TOKEN.createdAtMs + 120_000]) {
        tokens.recordUse(TOKEN.id, usedAtMs)
        await keepTrying(async () =>
          assert.deepEqual(await tokens.findByHash(hashToken('a')), { ...TOKEN, lastUsedAtMs: usedAtMs }),
        )
      }
    })

    test('a token whose id or hash is in use is rejected, and the first stays', async () => {
      const { plants, tokens } = shared
      await tokens.create(TOKEN, hashToken('a'))
      const [sameHash, sameId, other, plant] = await Promise.allSettled([
        tokens.create({ ...TOKEN, id: 'token-2', scopes: SCOPES }, hashToken('a')),
        tokens.create({ ...TOKEN, scopes: SCOPES }, hashToken('b')),
        tokens.create({ ...TOKEN, id: 'token-3' }, hashToken('c')),
        plants.create({ id: 1n, name: 'Rosa' }),
      ])
      assert.deepEqual([sameHash.status, sameId.status], ['rejected', 'rejected'])
      assert.deepEqual([other.status, plant.status], ['fulfilled', 'fulfilled'])
      assert.deepEqual(await tokens.findByHash(hashToken('a')), TOKEN)
      assert.equal(await tokens.findByHash(hashToken('b')), undefined)
      assert.notEqual(await plants.get(1n), undefined)
    })

    test('tokens and plants of extreme ids can be written in any order', async () => {
      const { plants, tokens } = shared
      const id = 2n ** 63n - 1n
      await Promise.all([
        plants.create({ id, name: 'Rosa' }),
        tokens.create(TOKEN, hashToken('a')),
        plants.delete(id),
        tokens.revoke(TOKEN.id),
      ])
      assert.deepEqual(await tokens.list(), [])
      assert.equal(await plants.get(id), undefined)
    })
  })
}

function rotationTests(shared: SharedStorage): void {
  test('a rotated token is found by its new hash, and by the old one during the grace period', async () => {
    const { tokens } = shared
    const endless = { ...TOKEN, id: 'token-2' }
    const graceEndsAtMs = TOKEN.createdAtMs + 1_000
    for (const [token, expiresAtMs] of [
      [endless, graceEndsAtMs],
      [{ ...TOKEN, id: 'token-3', expiresAtMs: graceEndsAtMs + 1 }, graceEndsAtMs],
      [{ ...TOKEN, id: 'token-4', expiresAtMs: graceEndsAtMs - 1 }, graceEndsAtMs - 1],
    ] as const) {
      await tokens.create(token, hashToken(token.id))
      assert.deepEqual(await tokens.rotate(token.id, hashToken(`new ${token.id}`), graceEndsAtMs), token)
      assert.deepEqual(await tokens.findByHash(hashToken(`new ${token.id}`)), token)
      const replaced = { ...token, expiresAtMs, isReplaced: true }
      assert.deepEqual(await tokens.findByHash(hashToken(token.id)), replaced)
    }
    assert.equal((await tokens.list()).length, 3, 'and none is there twice')
    assert.deepEqual((await tokens.list())[0], endless, 'a list has the new one')
  })

  test('only the most recent old secret stays valid, and none without a grace period', async () => {
    const { tokens } = shared
    await tokens.create(TOKEN, hashToken('a'))
    await tokens.rotate(TOKEN.id, hashToken('b'), TOKEN.createdAtMs + 1_000)
    await tokens.rotate(TOKEN.id, hashToken('c'), TOKEN.createdAtMs + 2_000)
    assert.equal(await tokens.findByHash(hashToken('a')), undefined)
    assert.equal((await tokens.findByHash(hashToken('b')))?.expiresAtMs, TOKEN.createdAtMs + 2_000)
    await tokens.rotate(TOKEN.id, hashToken('d'))
    for (const dead of ['a', 'b', 'c']) assert.equal(await tokens.findByHash(hashToken(dead)), undefined)
    assert.deepEqual(await tokens.findByHash(hashToken('d')), TOKEN)
  })

  test('each of several concurrent rotations is reported, and the last two secrets stay valid', async () => {
    const { tokens } = shared
    await tokens.create(TOKEN, hashToken('a'))
    const secrets = ['b', 'c', 'd', 'e']
    const graceEndsAtMs = TOKEN.createdAtMs + 1_000
    const rotations = secrets.map((secret) => tokens.rotate(TOKEN.id, hashToken(secret), graceEndsAtMs))
    for (const rotated of await Promise.all(rotations)) assert.deepEqual(rotated, TOKEN)
    const found = await Promise.all(secrets.map((secret) => tokens.findByHash(hashToken(secret))))
    assert.deepEqual(found, [
      undefined,
      undefined,
      { ...TOKEN, expiresAtMs: graceEndsAtMs, isReplaced: true },
      TOKEN,
    ])
  })

  test('uses are recorded and revocations apply for either secret', async () => {
    const { tokens } = shared
    await tokens.create(TOKEN, hashToken('a'))
    await tokens.rotate(TOKEN.id, hashToken('b'), TOKEN.createdAtMs + 1_000)
    tokens.recordUse(TOKEN.id, TOKEN.createdAtMs + 5)
    await keepTrying(async () => {
      for (const secret of ['a', 'b'])
        assert.equal((await tokens.findByHash(hashToken(secret)))?.lastUsedAtMs, TOKEN.createdAtMs + 5)
    })
    assert.equal(await tokens.revoke(TOKEN.id), true)
    for (const secret of ['a', 'b']) assert.equal(await tokens.findByHash(hashToken(secret)), undefined)
  })

  test('a token that is not there, or no longer, is not rotated', async () => {
    const { tokens } = shared
    await tokens.create(TOKEN, hashToken('a'))
    assert.equal(await tokens.rotate('never there', hashToken('b'), TOKEN.createdAtMs), undefined)
    await tokens.revoke(TOKEN.id)
    assert.equal(await tokens.rotate(TOKEN.id, hashToken('b'), TOKEN.createdAtMs), undefined)
    assert.equal(await tokens.findByHash(hashToken('b')), undefined)
  })
}
