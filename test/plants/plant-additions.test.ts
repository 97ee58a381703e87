import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../../src/errors.ts'
import { createAdditionsCount } from '../../src/plants/plant-additions.ts'
import type { AdditionsStep } from '../../src/plants/plant-store.ts'

/** 2026-11-28. */
const TODAY = 20_785

/** A store of three steps, with which time passes; and what it was asked for. */
function steps(stepMs: number) {
  const asked: (bigint | undefined)[] = []
  const clock = { elapsedMs: 0, nowMs: TODAY * 86_400_000 }
  let failure: Error | undefined
  const answers: AdditionsStep[] = [
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
        asked.push(afterId)
        clock.elapsedMs += stepMs
        clock.nowMs += stepMs
        await new Promise(setImmediate)
        if (failure !== undefined && afterId === 7n) throw failure
        return answers[afterId === undefined ? 0 : afterId === 7n ? 1 : 2] as AdditionsStep
      },
    },
    nowMs: () => clock.nowMs,
    elapsedMs: () => clock.elapsedMs,
  })
  return {
    asked,
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

test('the steps are one count, whose days are in order, and which tells when it began', async () => {
  const { asked, count } = steps(10)
  assert.deepEqual(await count(), { countedAt: '2026-11-28T00:00:00.000Z', days: DAYS })
  assert.deepEqual(asked, [undefined, 7n, 9n])
})

test('all who ask while a count runs share it', async () => {
  const { asked, count } = steps(10)
  const all = await Promise.all([count(), count(), new Promise(setImmediate).then(count)])
  for (const one of all) assert.deepEqual(one.days, DAYS)
  assert.equal(asked.length, 3)
})

test('an answer is kept for a minute, or fifty times as long as its count took', async () => {
  for (const [stepMs, keptMs] of [
    [10, 60_000],
    [10_000, 50 * 30_000],
  ] as const) {
    const { asked, clock, count } = steps(stepMs)
    await count()
    clock.elapsedMs += keptMs - 1
    await count()
    assert.equal(asked.length, 3)
    clock.elapsedMs += 1
    await count()
    assert.equal(asked.length, 6)
  }
})

test('a failure ends the count for all who share it, and the next one begins anew', async () => {
  const { asked, count, fail } = steps(10)
  fail(new AppError(50302, 'The storage failed.'))
  for (const result of await Promise.allSettled([count(), count()])) {
    assert.equal(result.status === 'rejected' && result.reason.code, 50302)
  }
  fail(undefined)
  assert.deepEqual((await count()).days, DAYS)
  assert.deepEqual(asked, [undefined, 7n, undefined, 7n, 9n])
})
