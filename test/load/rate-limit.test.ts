import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createRateLimit, type RateLimitOptions } from '../../src/load/rate-limit.ts'

/** A rate limit with a clock that the test sets. */
function newLimit(options: Partial<RateLimitOptions> = {}) {
  const clock = { nowMs: 0 }
  const limit = createRateLimit({
    policy: 'a',
    quota: 3,
    windowSeconds: 1,
    nowMs: () => clock.nowMs,
    ...options,
  })
  const take = (key = 'somebody') => limit.take(key).isSpent
  /** How many requests are allowed now. */
  const takeAll = (key = 'somebody') => {
    let taken = 0
    while (!take(key)) taken++
    return taken
  }
  return { clock, limit, take, takeAll }
}

test('the quota of a window may be used at once, and refills evenly', () => {
  const { clock, take, takeAll } = newLimit({ quota: 4 })
  assert.equal(takeAll(), 4)
  clock.nowMs = 249
  assert.ok(take())
  clock.nowMs = 250
  assert.equal(takeAll(), 1)
  clock.nowMs = 1_000
  assert.equal(takeAll(), 3)
  clock.nowMs = 3_600_000
  assert.equal(takeAll(), 4, 'unused quota is not accumulated')
})

test('a rejected request uses no quota', () => {
  const { clock, take, takeAll } = newLimit({ quota: 1 })
  assert.ok(!take())
  for (let count = 0; count < 1_000; count++) assert.ok(take())
  clock.nowMs = 1_000
  assert.equal(takeAll(), 1)
})

test('each key has a quota of its own', () => {
  const { takeAll } = newLimit()
  assert.equal(takeAll('one'), 3)
  assert.equal(takeAll('another'), 3)
  assert.equal(takeAll('one'), 0)
  for (const key of ['constructor', '__proto__', '']) assert.equal(takeAll(key), 3)
})

test('no more requests are allowed than the quota and its refill, however they are spread', () => {
  const request = fc.record({ waitMs: fc.nat(700), count: fc.integer({ min: 1, max: 5 }) })
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 7 }),
      fc.constantFrom(1, 60),
      fc.array(request),
      (quota, windowSeconds, requests) => {
        const { clock, take } = newLimit({ quota, windowSeconds })
        const takenAtMs: number[] = []
        for (const { waitMs, count } of requests) {
          clock.nowMs += waitMs
          for (let each = 0; each < count; each++) if (!take()) takenAtMs.push(clock.nowMs)
        }
        for (const [first, fromMs] of takenAtMs.entries()) {
          for (const [more, untilMs] of takenAtMs.slice(first).entries()) {
            const back = ((untilMs - fromMs) * quota) / (windowSeconds * 1_000)
            assert.ok(more + 1 <= quota + back)
          }
        }
      },
    ),
  )
})

test('a caller that keeps to the rate is never rejected', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1_000 }),
      fc.array(fc.nat(100), { maxLength: 200 }),
      (quota, lateMs) => {
        const { clock, take } = newLimit({ quota })
        for (const late of lateMs) {
          assert.ok(!take())
          clock.nowMs += Math.ceil(1_000 / quota) + late
        }
      },
    ),
  )
})

test('the header fields have the policy, the remaining quota and the time until more', () => {
  const { limit } = newLimit({ policy: 'plants:read', quota: 2 })
  assert.equal(limit.policyField, '"plants:read";q=2;w=1')
  assert.equal(limit.take('a').field, '"plants:read";r=1;t=1')
  assert.equal(limit.take('a').field, '"plants:read";r=0;t=1')
  assert.deepEqual(limit.take('a'), { isSpent: true, field: '"plants:read";r=0;t=1', waitSeconds: 1 })
})

test('the wait is the time until the next request is allowed, in whole seconds', () => {
  const { clock, limit, take } = newLimit({ quota: 2, windowSeconds: 60 })
  take()
  take()
  assert.equal(limit.take('somebody').waitSeconds, 30)
  clock.nowMs = 15_500
  assert.equal(limit.take('somebody').waitSeconds, 15)
  clock.nowMs = 29_999
  assert.equal(limit.take('somebody').waitSeconds, 1)
  clock.nowMs = 30_000
  assert.ok(!take())
})

test('a peek takes nothing', () => {
  const { limit, take } = newLimit({ quota: 1 })
  assert.deepEqual(limit.peek('somebody'), { isSpent: false, field: '"a";r=1;t=1', waitSeconds: 1 })
  assert.ok(!take())
  assert.deepEqual(limit.peek('somebody'), { isSpent: true, field: '"a";r=0;t=1', waitSeconds: 1 })
})

test('the number of keys is limited, and the oldest one is dropped first', () => {
  const { take } = newLimit({ quota: 1, keysMax: 2 })
  assert.ok(!take('first'))
  assert.ok(!take('second'))
  assert.ok(!take('third'))
  assert.ok(take('second') && take('third'))
  assert.ok(!take('first'), 'forgotten, and new again')
})
