import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../../src/errors.ts'
import { createAdditionsCount } from '../../src/plants/plant-additions.ts'
import type { AdditionsStep } from '../../src/plants/plant-store.ts'

/** 2026-11-28. */
const TODAY = 20_785

/** A store whose count has three steps, a clock that each step advances, and the requested ids. */
function steps(stepMs: number) {
  const requested: (bigint | undefined)[] = []
  const clock = { elapsedMs: 0, nowMs: TODAY * 86_400_000 }
  let failure: Error | undefined
  const counted: AdditionsStep[] = [
    { days: [{ day: TODAY, count: 2 }], lastId: 7n },
    {
      days: [
        { day: TODAY, count: 1 },
        { day: TODAY - 400, count: 3 },
      ],
      lastId: 9n,
    },
    { days: [], lastId: undefined },
  ]
  const count = createAdditionsCount({
    plants: {
      async countAdditions(afterId) {
        requested.push(afterId)
        clock.elapsedMs += stepMs
        clock.nowMs += stepMs
        await new Promise(setImmediate)
        if (failure !== undefined && afterId === 7n) throw failure
        return counted[afterId === undefined ? 0 : afterId === 7n ? 1 : 2] as AdditionsStep
      },
    },
    nowMs: () => clock.nowMs,
    elapsedMs: () => clock.elapsedMs,
  })
  return {
    requested,
    clock,
    count,
    fail: (error: Error | undefined) => {
      failure = error
    },
  }
}

const DAYS = [
  { day: '2025-10-24', count: 3 },
  { day: '2026-11-28', count: 3 },
]

test('a count sums its steps, orders its days, and has the time at which it began', async () => {
  const { requested, count } = steps(10)
  assert.deepEqual(await count(), { countedAt: '2026-11-28T00:00:00.000Z', days: DAYS })
  assert.deepEqual(requested, [undefined, 7n, 9n])
})

test('concurrent calls share one count', async () => {
  const { requested, count } = steps(10)
  const all = await Promise.all([count(), count(), new Promise(setImmediate).then(count)])
  for (const one of all) assert.deepEqual(one.days, DAYS)
  assert.equal(requested.length, 3)
})

test('a count is cached for a minute, or for fifty times its duration', async () => {
  for (const [stepMs, cachedMs] of [
    [10, 60_000],
    [10_000, 50 * 30_000],
  ] as const) {
    const { requested, clock, count } = steps(stepMs)
    await count()
    clock.elapsedMs += cachedMs - 1
    await count()
    assert.equal(requested.length, 3)
    clock.elapsedMs += 1
    await count()
    assert.equal(requested.length, 6)
  }
})

test('a failure rejects all calls that share the count, and the next call starts a new one', async () => {
  const { requested, count, fail } = steps(10)
  fail(new AppError(50302, 'The storage failed.'))
  for (const result of await Promise.allSettled([count(), count()])) {
    assert.equal(result.status === 'rejected' && result.reason.code, 50302)
  }
  fail(undefined)
  assert.deepEqual((await count()).days, DAYS)
  assert.deepEqual(requested, [undefined, 7n, undefined, 7n, 9n])
})
