import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../../../../src/errors.ts'
import { createTurnstile } from '../../../../src/storage/postgres/connection/turnstile.ts'

const isCode = (code: number) => (error: unknown) => error instanceof AppError && error.code === code

test('a turnstile lets so many in at once, in their order, also after a failure', async () => {
  const turnstile = createTurnstile({ placesMax: 2, waitMaxMs: 5_000 })
  const works = Array.from({ length: 5 }, () => Promise.withResolvers<void>())
  const entered: number[] = []
  const passing = works.map(({ promise }, at) =>
    turnstile.pass(() => {
      entered.push(at)
      return promise
    }),
  )
  const settled = Promise.allSettled(passing)
  assert.deepEqual(entered, [0, 1])
  works[1]?.reject(new Error('failed'))
  await assert.rejects(passing[1] ?? Promise.resolve(), /failed/)
  assert.deepEqual(entered, [0, 1, 2])
  works[2]?.resolve()
  await passing[2]
  assert.deepEqual(entered, [0, 1, 2, 3])
  for (const { resolve } of works) resolve()
  await settled
  assert.deepEqual(entered, [0, 1, 2, 3, 4])
  await turnstile.pass(async () => {})
})

test('who waits too long is told whether anybody came out meanwhile', async () => {
  const turnstile = createTurnstile({ placesMax: 1, waitMaxMs: 50 })
  const stuck = Promise.withResolvers<void>()
  const first = turnstile.pass(() => stuck.promise)
  await assert.rejects(
    turnstile.pass(async () => {}),
    isCode(50302),
  )
  const slow = turnstile.pass(() => new Promise((resolve) => setTimeout(resolve, 200)))
  const late = turnstile.pass(async () => {})
  stuck.resolve()
  await first
  await assert.rejects(late, isCode(50301))
  await slow
})

test('one more than may wait is told so at once', async () => {
  const turnstile = createTurnstile({ placesMax: 1, waitMaxMs: 5_000 })
  const works = Promise.withResolvers<void>()
  const passing = Promise.all(Array.from({ length: 4_001 }, () => turnstile.pass(() => works.promise)))
  await assert.rejects(
    turnstile.pass(async () => {}),
    isCode(50301),
  )
  works.resolve()
  await passing
})
