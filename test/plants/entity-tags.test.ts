import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { AppError } from '../../src/errors.ts'
import { preconditionOf } from '../../src/plants/entity-tags.ts'
import { entityTagOf } from '../../src/plants/plant.ts'
import { preconditionHolds } from '../../src/plants/plant-store.ts'

const versions = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })

test('the tag of a version matches in both fields, and other tags do not', () => {
  fc.assert(
    fc.property(versions, versions, (version, other) => {
      const tag = entityTagOf(version)
      assert.match(tag, /^"[0-9]{1,16}"$/)
      for (const name of ['if-match', 'if-none-match'] as const) {
        const precondition = preconditionOf({ [name]: tag })
        const wanted = name === 'if-match'
        assert.equal(preconditionHolds(precondition, version), wanted)
        assert.equal(preconditionHolds(precondition, other), wanted === (version === other))
      }
    }),
  )
})

test('without a field there is no precondition', () => {
  assert.deepEqual(preconditionOf({}), {})
})

test('a star matches any version', () => {
  assert.deepEqual(preconditionOf({ 'if-match': '*', 'if-none-match': ' * ' }), {
    ifMatch: 'any',
    ifNoneMatch: 'any',
  })
  assert.ok(preconditionHolds({ ifMatch: 'any' }, 1))
  assert.ok(!preconditionHolds({ ifMatch: 'any' }, undefined))
  assert.ok(!preconditionHolds({ ifNoneMatch: 'any' }, 1))
  assert.ok(preconditionHolds({ ifNoneMatch: 'any' }, undefined))
})

test('one matching tag in a list is enough', () => {
  const list = ` ${entityTagOf(1)},${entityTagOf(2)} ,, "x-y", ${entityTagOf(3)}`
  for (const version of [1, 2, 3]) {
    assert.ok(preconditionHolds(preconditionOf({ 'if-match': list }), version))
    assert.ok(!preconditionHolds(preconditionOf({ 'if-none-match': list }), version))
  }
  assert.ok(!preconditionHolds(preconditionOf({ 'if-match': list }), 4))
  assert.ok(preconditionHolds(preconditionOf({ 'if-none-match': list }), 4))
})

test('a tag that a compressing proxy changed matches as the original does', () => {
  for (const tag of ['W/"7"', '"7-gzip"', '"7-br"', '"7-zstd"', '"7-deflate"', 'W/"7-gzip"']) {
    for (const version of [7, 8]) {
      const isSame = version === 7
      assert.equal(preconditionHolds(preconditionOf({ 'if-match': tag }), version), isSame, tag)
      assert.equal(preconditionHolds(preconditionOf({ 'if-none-match': tag }), version), !isSame, tag)
    }
  }
})

test('tags of others match nothing', () => {
  const fields = [
    '"A"',
    '"-1"',
    '"07"',
    '"7e0"',
    '"99999999999999999"',
    '""',
    '"7-"',
    '"7-x"',
    '"-gzip"',
    '"a,7"',
    '"7,"',
    '"a", W/"b,c",,',
    '"\xe9"',
  ]
  for (const field of fields) {
    assert.ok(!preconditionHolds(preconditionOf({ 'if-match': field }), 7), field)
    assert.ok(preconditionHolds(preconditionOf({ 'if-none-match': field }), 7), field)
  }
})

test('a field that is no list of tags is rejected, and the message shows one', () => {
  const fields = [
    '',
    ',',
    '7',
    '"7',
    "'7'",
    '"7 "',
    'w/"7"',
    'W/7',
    'W/W/"7"',
    '*, "x"',
    '"7""8"',
    '"7" "8"',
    '"a,"7",b"',
    '"7", 8',
    '"7"\0',
  ]
  for (const field of fields) {
    for (const parameter of ['If-Match', 'If-None-Match']) {
      assert.throws(
        () => preconditionOf({ [parameter.toLowerCase()]: field }),
        (error: AppError) =>
          error.code === 40004 && error.details?.parameter === parameter && /"123"/.test(error.message),
        field,
      )
    }
  }
})
