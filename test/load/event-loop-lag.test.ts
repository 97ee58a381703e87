import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createEventLoopLag } from '../../src/load/event-loop-lag.ts'

const LAG_MAX_MS = 100
const SAMPLE_MS = 20

/** A lag whose samples are taken under the control of the test, each late by a given time. */
function start(test: TestContext) {
  test.mock.timers.enable({ apis: ['setTimeout'] })
  test.after(() => test.mock.timers.reset())
  let timeMs = 0
  const lag = createEventLoopLag({ lagMaxMs: LAG_MAX_MS, nowMs: () => timeMs })
  return {
    lag,
    /** Takes samples and calls `isTooLong` after each. */
    measure(...lateMs: number[]): boolean {
      let isTooLong = lag.isTooLong()
      for (const ms of lateMs) {
        timeMs += SAMPLE_MS + ms
        test.mock.timers.tick(SAMPLE_MS)
        isTooLong = lag.isTooLong()
      }
      return isTooLong
    },
    /** Takes late samples without a call of `isTooLong`. */
    pause(samples: number): void {
      for (let count = 0; count < samples; count++) {
        timeMs += SAMPLE_MS + 150
        test.mock.timers.tick(SAMPLE_MS)
      }
    },
  }
}

test('a lag is too long once it stays over the limit, until it falls below half of it', (test) => {
  const { measure } = start(test)
  assert.equal(measure(0, 0), false)
  assert.equal(measure(150, 101), false)
  assert.equal(measure(120), true)
  assert.equal(measure(90, 60, 130, 70), true)
  assert.equal(measure(40), false)
  assert.equal(measure(150, 150), false)
  assert.equal(measure(150), true)
})

test('a hiccup is not a lag, however long and however frequent', (test) => {
  const { measure } = start(test)
  for (let count = 0; count < 10; count++) assert.equal(measure(5_000, 60, 0), false)
  for (let count = 0; count < 10; count++) assert.equal(measure(300, 300, 80), false)
})

test('samples stop when isTooLong is no longer called, and then old ones do not count', (test) => {
  const { measure, pause } = start(test)
  assert.equal(measure(150, 150, 150), true)
  pause(49)
  assert.equal(measure(), true)
  pause(1_000)
  assert.equal(measure(), false)
  assert.equal(measure(150, 150), false)
  assert.equal(measure(150), true)
})
