import assert from 'node:assert/strict'
import { test } from 'node:test'
import { retryAfterMsOf, retryDelayMs } from '../../src/client/retry-delay.ts'

const headers = (retryAfter: string, date?: string) =>
  new Headers({ 'retry-after': retryAfter, ...(date !== undefined && { date }) })

test('each wait is random below a bound that doubles up to five seconds', () => {
  for (const [tries, boundMs] of [
    [1, 250],
    [2, 500],
    [3, 1_000],
    [5, 4_000],
    [6, 5_000],
    [60, 5_000],
  ] as const) {
    const delaysMs = Array.from({ length: 300 }, () => retryDelayMs(tries, undefined))
    assert.ok(Math.max(...delaysMs) <= boundMs)
    assert.ok(Math.max(...delaysMs) > boundMs * 0.8)
    assert.ok(Math.min(...delaysMs) < boundMs * 0.2)
  }
})

test('a wait is as long as Retry-After says, plus a small random time', () => {
  const delaysMs = Array.from({ length: 100 }, () => retryDelayMs(4, 2_000))
  assert.ok(Math.min(...delaysMs) >= 2_000)
  assert.ok(Math.max(...delaysMs) <= 2_250)
  assert.ok(new Set(delaysMs).size > 50)
})

test('Retry-After is seconds or a date, by the Date of the response if it has one', () => {
  assert.equal(retryAfterMsOf(headers('120')), 120_000)
  assert.equal(retryAfterMsOf(headers(' 0 ')), 0)
  const date = 'Fri, 31 Dec 1999 23:59:00 GMT'
  assert.equal(retryAfterMsOf(headers('Fri, 31 Dec 1999 23:59:59 GMT', date)), 59_000)
  assert.equal(retryAfterMsOf(headers('Fri, 31 Dec 1999 23:00:00 GMT', date)), 0)
  const inTenSeconds = new Date(Date.now() + 10_000).toUTCString()
  const waitMs = retryAfterMsOf(headers(inTenSeconds)) ?? 0
  assert.ok(waitMs > 8_000 && waitMs <= 10_000)
})

test('an invalid Retry-After is ignored', () => {
  assert.equal(retryAfterMsOf(new Headers()), undefined)
  for (const field of ['', 'soon', '-1', '1.5', '1e3'])
    assert.equal(retryAfterMsOf(headers(field)), undefined, field)
})
