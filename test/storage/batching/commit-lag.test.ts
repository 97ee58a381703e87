import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createCommitLag } from '../../../src/storage/batching/commit-lag.ts'

const LAG_MAX_MS = 100
const FEW = { writes: 1, batches: 0 }

/** Of which commits took this long so far, on a clock that stands still. */
function commitLagAfter(tookMs: readonly number[]) {
  let timeMs = 0
  const lag = createCommitLag({ lagMaxMs: LAG_MAX_MS, nowMs: () => timeMs })
  const advance = (byMs: number) => {
    timeMs += byMs
  }
  for (const ms of tookMs) {
    lag.begin()
    advance(ms)
    lag.end(true)
  }
  return { lag, advance }
}

const OFTEN = Array.from({ length: 30 }, () => 20)
const behind = (batches: number) => ({ writes: batches * 512, batches })

describe('the lag of commits', () => {
  test('is too long if more batches are queued and running than are committed in time', () => {
    const { lag, advance } = commitLagAfter(OFTEN)
    lag.begin()
    assert.equal(lag.isTooLong(behind(3)), false)
    assert.equal(lag.isTooLong(behind(5)), true)
    assert.equal(lag.isTooLong(behind(4.5)), true)
    advance(15)
    assert.equal(lag.isTooLong(behind(4.5)), false)
  })

  test('is never too long if nothing is queued or no commit is running', () => {
    const { lag, advance } = commitLagAfter(Array.from({ length: 30 }, () => 5_000))
    assert.equal(lag.isTooLong(behind(10)), false)
    lag.begin()
    advance(100_000)
    assert.equal(lag.isTooLong({ writes: 0, batches: 0 }), false)
  })

  test('is not too long for the next commit, however slow, until one stalls', () => {
    for (const usualMs of [20, 1_000]) {
      const { lag, advance } = commitLagAfter(Array.from({ length: 30 }, () => usualMs))
      lag.begin()
      advance(4 * Math.max(LAG_MAX_MS, usualMs) - 1)
      assert.equal(lag.isTooLong(FEW), false)
      advance(2)
      assert.equal(lag.isTooLong(FEW), true)
      lag.end(true)
      assert.equal(lag.isTooLong(FEW), false)
    }
  })

  test('ignores a single slow commit, and counts them once all are slow', () => {
    const { lag, advance } = commitLagAfter(OFTEN)
    lag.begin()
    advance(300)
    assert.equal(lag.isTooLong(behind(3)), false)
    lag.end(true)
    lag.begin()
    // Only the mean, which has moved, and the last one are known: the next one decides.
    advance(20)
    lag.end(true)
    lag.begin()
    assert.equal(lag.isTooLong(behind(3)), false)
    const slow = commitLagAfter([...OFTEN, 300, 300, 300])
    slow.lag.begin()
    assert.equal(slow.lag.isTooLong(behind(1)), true)
  })

  test('ignores the first commit of a process, which compiles and prepares', () => {
    const { lag, advance } = commitLagAfter([120])
    lag.begin()
    assert.equal(lag.isTooLong(behind(3)), false)
    advance(120)
    lag.end(true)
    lag.begin()
    assert.equal(lag.isTooLong(behind(3)), true)
  })

  test('ignores a failed commit', () => {
    const { lag, advance } = commitLagAfter(OFTEN)
    for (let count = 0; count < 5; count++) {
      lag.begin()
      advance(10_000)
      lag.end(false)
    }
    lag.begin()
    assert.equal(lag.isTooLong(behind(3)), false)
  })
})
