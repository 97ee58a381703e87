import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { createEventLoopSlices } from '../../src/load/event-loop-slices.ts'

test('tasks start in order, a few in each turn of the event loop, later ones as well', async () => {
  const { runLater } = createEventLoopSlices()
  const begun: number[] = []
  const all = Array.from({ length: 100 }, (_, at) => at)
  for (const at of all.slice(0, 90)) runLater(() => void begun.push(at))
  assert.equal(begun.length, 0)
  let most = 0
  while (begun.length < 90) {
    const before = begun.length
    await yieldToEventLoop()
    most = Math.max(most, begun.length - before)
  }
  assert.ok(most <= 64, `${most} in a turn`)
  for (const at of all.slice(90)) runLater(() => void begun.push(at))
  while (begun.length < 100) await yieldToEventLoop()
  assert.deepEqual(begun, all)
})

test('a task may run at once if none is queued, and again in each new turn', async () => {
  const slices = createEventLoopSlices()
  slices.runLater(() => {})
  assert.equal(slices.hasTime(), false)
  while (slices.queued > 0) await yieldToEventLoop()
  assert.equal(slices.hasTime(), true)
  const taken = slices.runNow(() => {
    const endMs = performance.now() + 30
    while (performance.now() < endMs);
    return 'long'
  })
  assert.equal(taken, 'long')
  assert.equal(slices.hasTime(), false)
  await yieldToEventLoop()
  assert.equal(slices.hasTime(), true)
})

test('after long tasks the rest run in later turns', async () => {
  const { runLater } = createEventLoopSlices()
  let begun = 0
  for (let task = 0; task < 4; task++) {
    runLater(() => {
      begun++
      const endMs = performance.now() + 30
      while (performance.now() < endMs);
    })
  }
  for (let turns = 0; begun < 4; turns++) {
    assert.ok(turns < 100)
    const before = begun
    await yieldToEventLoop()
    assert.ok(begun - before <= 1)
  }
})
