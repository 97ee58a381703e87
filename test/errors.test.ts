import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError, ERRORS, type ErrorCode, meaningOf, SetupError } from '../src/errors.ts'

const CODES = Object.keys(ERRORS).map(Number) as ErrorCode[]

test('the codes are the published ones: none was renumbered, reused or removed', () => {
  assert.deepEqual(
    CODES,
    [
      40000, 40001, 40002, 40003, 40004, 40101, 40102, 40301, 40401, 40402, 40403, 40501, 40801, 40901, 40902,
      41201, 41301, 41501, 42201, 42901, 43101, 50001, 50301, 50302, 50303, 50701,
    ],
  )
})

test('a code is the status that fits best times 100, and fits 32 bits', () => {
  for (const code of CODES) {
    assert.equal(Math.trunc(code / 100), ERRORS[code].status)
    assert.ok(code < 2 ** 31)
  }
})

test('only a fault of the request itself may become a 400', () => {
  const rejections = CODES.filter((code) => meaningOf(code).rejection)
  assert.deepEqual(rejections, [40901, 40902, 41301, 41501, 42201])
})

test('a response that asks for a retry has Retry-After', () => {
  for (const code of CODES) {
    const { status, retryAfterSeconds = 0 } = meaningOf(code)
    // 40902 is temporary as well: the first request with the key ends.
    const passes = status === 429 || status === 503 || code === 40902
    assert.equal(retryAfterSeconds > 0, passes, String(code))
  }
})

test('a meaning is a sentence', () => {
  for (const code of CODES) assert.match(ERRORS[code].meaning, /^[A-Z].*\.$/)
})

test('an AppError has the message of the table unless it has its own, and keeps its cause separate', () => {
  const plain = new AppError(40402)
  assert.equal(plain.message, ERRORS[40402].meaning)
  assert.equal(plain.cause, undefined)
  assert.ok(!('cause' in plain))
  assert.deepEqual(plain.headers, {})
  const cause = new Error('disk')
  const failure = new AppError(50302, 'Try again.', { cause, headers: { allow: 'GET' } })
  assert.equal(failure.message, 'Try again.')
  assert.equal(failure.cause, cause)
  assert.deepEqual(failure.headers, { allow: 'GET' })
  assert.ok(failure instanceof Error)
})

test('a SetupError is recognized by its name', () => {
  assert.equal(String(new SetupError('Port 1 is in use.')), 'SetupError: Port 1 is in use.')
})
