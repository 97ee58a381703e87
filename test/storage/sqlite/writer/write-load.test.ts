import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createWriteLoad } from '../../../../src/storage/sqlite/writer/write-load.ts'

/** A load, and a function that alternates writes and steps of indexing for 300 ms. */
function startLoad(t: TestContext) {
  let nowMs = 1_000
  t.mock.method(performance, 'now', () => nowMs)
  const load = createWriteLoad()
  return {
    load,
    alternate(turn: { idleMs: number; writingMs: number; indexingMs: number }) {
      const endMs = nowMs + 300
      while (nowMs < endMs) {
        nowMs += turn.idleMs + turn.indexingMs
        load.recordIndexing(turn.indexingMs)
        nowMs += turn.writingMs
        load.recordWrites(turn.writingMs)
      }
    },
    pause(ms: number) {
      nowMs += ms
    },
  }
}

test('writes count as many at first, and as few after a pause', (t) => {
  const { load, alternate, pause } = startLoad(t)
  assert.ok(!load.isBusy(), 'there was none yet')
  load.recordWrites(0.1)
  assert.ok(load.isBusy())
  alternate({ idleMs: 3, writingMs: 0.3, indexingMs: 0 })
  assert.ok(!load.isBusy())
  alternate({ idleMs: 0.6, writingMs: 0.4, indexingMs: 0 })
  assert.ok(load.isBusy())
  pause(5)
  assert.ok(!load.isBusy())
})

test('writes that use much of the time that indexing leaves are many, however little time that is', (t) => {
  const { load, alternate } = startLoad(t)
  alternate({ idleMs: 0.6, writingMs: 0.4, indexingMs: 9 })
  assert.ok(load.isBusy())
})

test('writes that use little of the time that indexing leaves are few', (t) => {
  const { load, alternate } = startLoad(t)
  alternate({ idleMs: 3, writingMs: 0.3, indexingMs: 9 })
  assert.ok(!load.isBusy())
})
