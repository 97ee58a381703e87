import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  generateToken,
  generateTokenId,
  hashToken,
  isExpired,
  isScope,
  isWellFormedToken,
  SCOPES,
} from '../../src/tokens/token.ts'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

test('a token is its prefix, 43 digits of secret and 6 of checksum, and fits a header field', () => {
  for (let count = 0; count < 200; count++) {
    const token = generateToken()
    assert.match(token, /^plst_[0-9A-Za-z]{49}$/)
    assert.ok(isWellFormedToken(token))
  }
})

test('the checksum detects every single wrong character', () => {
  const token = generateToken()
  for (let at = 0; at < token.length; at++) {
    for (const other of `${BASE62}_- `) {
      if (other === token[at]) continue
      const typo = token.slice(0, at) + other + token.slice(at + 1)
      assert.ok(!isWellFormedToken(typo), `${other} at ${at} of ${token}`)
    }
  }
})

test('the checksum detects swapped neighbours', () => {
  for (let count = 0; count < 20; count++) {
    const token = generateToken()
    for (let at = 5; at < token.length - 1; at++) {
      const [one = '', other = ''] = token.slice(at)
      if (one !== other) {
        assert.ok(
          !isWellFormedToken(token.slice(0, at) + other + one + token.slice(at + 2)),
          `${at} of ${token}`,
        )
      }
    }
  }
})

test('a text that is truncated, too long or of another kind is not a token', () => {
  const token = generateToken()
  for (const text of [
    '',
    'plst_',
    token.slice(1),
    token.slice(0, -1),
    `${token}0`,
    ` ${token}`,
    token.replace('plst_', 'plsx_'),
  ]) {
    assert.ok(!isWellFormedToken(text), text)
  }
})

test('tokens and ids are unique', () => {
  const count = 5000
  assert.equal(new Set(Array.from({ length: count }, generateToken)).size, count)
  const ids = Array.from({ length: count }, generateTokenId)
  assert.equal(new Set(ids).size, count)
  for (const id of ids) assert.match(id, /^[0-9A-Za-z]{11}$/)
})

test('every digit of the secret varies', () => {
  const tokens = Array.from({ length: 500 }, generateToken)
  for (let at = 'plst_'.length; at < (tokens[0]?.length ?? 0); at++) {
    // The highest digit of 256 bits in base 62, and of 32 in the checksum, cannot be all of them.
    const kinds = new Set(tokens.map((token) => token[at])).size
    assert.ok(kinds >= 4, `${kinds} different characters at ${at}`)
  }
})

test('the hash of a token is its SHA-256', () => {
  assert.equal(hashToken('abc'), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})

test('a scope is one of four, by its exact name', () => {
  for (const scope of SCOPES) assert.ok(isScope(scope))
  for (const other of [
    '',
    'plants',
    'PLANTS:READ',
    'plants:read ',
    'constructor',
    0,
    null,
    undefined,
    ['plants:read'],
  ]) {
    assert.ok(!isScope(other), String(other))
  }
})

test('a token expires at its time, or never without one', () => {
  const token = { id: 'a', label: '', scopes: SCOPES, createdAtMs: 0 }
  assert.ok(!isExpired(token, Number.MAX_SAFE_INTEGER))
  assert.ok(!isExpired({ ...token, expiresAtMs: 1000 }, 999))
  assert.ok(isExpired({ ...token, expiresAtMs: 1000 }, 1000))
})
