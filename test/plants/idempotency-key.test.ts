import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { AppError } from '../../src/errors.ts'
import {
  fingerprintOf,
  KEY_FIELD_CHARACTERS_MAX,
  parseIdempotencyKey,
} from '../../src/plants/idempotency-key.ts'

const printable = fc.string({
  unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
  minLength: 1,
  maxLength: 255,
})

const quoted = (key: string) => `"${key.replace(/["\\]/g, '\\$&')}"`

test('a key in quotation marks is the text between them', () => {
  assert.equal(
    parseIdempotencyKey('"8e03978e-40d5-43dd-bc93-6894a57f9324"'),
    '8e03978e-40d5-43dd-bc93-6894a57f9324',
  )
  fc.assert(fc.property(printable, (key) => assert.equal(parseIdempotencyKey(quoted(key)), key)))
})

test('a field with the longest key has the maximum length in the OpenAPI document', () => {
  const key = '"'.repeat(255)
  assert.equal(parseIdempotencyKey(quoted(key)), key)
  assert.equal(quoted(key).length, KEY_FIELD_CHARACTERS_MAX)
})

test('a bare key is used unchanged', () => {
  assert.equal(parseIdempotencyKey('order 17, first try'), 'order 17, first try')
  assert.equal(parseIdempotencyKey('  abc\t'), 'abc')
  fc.assert(
    fc.property(printable, (key) => {
      fc.pre(key.trim() === key && !key.startsWith('"'))
      assert.equal(parseIdempotencyKey(key), key)
    }),
  )
})

test('a key has at most 255 characters without its quotation marks', () => {
  assert.equal(parseIdempotencyKey('k'.repeat(255)).length, 255)
  assert.equal(parseIdempotencyKey(`"${'\\"'.repeat(255)}"`).length, 255)
  for (const field of ['k'.repeat(256), `"${'k'.repeat(256)}"`]) assertRejected(field)
})

test('an invalid key is rejected with the rule, and not quoted', () => {
  for (const field of [
    '',
    '  ',
    '""',
    '"a',
    '"',
    '"a" b',
    '"a";p=1',
    '"a\\b"',
    '"a"b"',
    'caf\u00e9',
    '"\u00e9"',
    'a\tb',
    'a\x7f',
  ]) {
    assertRejected(field)
  }
})

function assertRejected(field: string): void {
  assert.throws(
    () => parseIdempotencyKey(field),
    (error) =>
      error instanceof AppError &&
      error.code === 40003 &&
      /^Idempotency-Key must be 1 to 255 /.test(error.message),
    JSON.stringify(field),
  )
}

test('only equal plants have equal fingerprints', () => {
  const plants = fc.record(
    {
      id: fc.constantFrom(1n, 11n, -1n, 9007199254740993n, 9007199254740992n),
      name: fc.constantFrom('', 'a', '1', 'a","b', 'null', '\u00e9', 'e\u0301'),
      tag: fc.constantFrom('', 'a', 'null', '1'),
    },
    { requiredKeys: ['id', 'name'] },
  )
  fc.assert(
    fc.property(plants, plants, (one, other) => {
      const isSame = one.id === other.id && one.name === other.name && one.tag === other.tag
      assert.equal(fingerprintOf(one) === fingerprintOf(other), isSame)
    }),
    { numRuns: 2000 },
  )
  assert.match(fingerprintOf({ id: 1n, name: 'a' }), /^[0-9a-f]{64}$/)
})
