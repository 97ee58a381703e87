import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createEventLoopSlices } from '../../src/load/event-loop-slices.ts'
import { createSharedSlots } from '../../src/load/shared-slots.ts'
import { queueOf, startTasks } from './queue-tasks.ts'

function block(ms: number): void {
  const endMs = performance.now() + ms
  while (performance.now() < endMs);
}

describe('queues that share slots', () => {
  test('run at most as many tasks as there are slots, each within its own limit, round-robin', async () => {
    const sharedSlots = createSharedSlots(3)
    const pages = startTasks(queueOf({ slots: 2, sharedSlots }))
    const rows = startTasks(queueOf({ slots: 3, sharedSlots }))
    for (const name of ['p1', 'p2', 'p3']) void pages.run(name)
    for (const name of ['r1', 'r2', 'r3']) void rows.run(name)
    assert.deepEqual([pages.started, rows.started], [['p1', 'p2'], ['r1']])
    await pages.end('p1')
    await pages.end('p2')
    assert.deepEqual(
      [pages.started, rows.started],
      [
        ['p1', 'p2', 'p3'],
        ['r1', 'r2'],
      ],
    )
    await rows.end('r1')
    assert.deepEqual(rows.started, ['r1', 'r2', 'r3'])
    await pages.end('p3')
    void rows.run('r4')
    assert.deepEqual(rows.started, ['r1', 'r2', 'r3', 'r4'])
  })
})

describe('a queue of tasks that block the event loop', () => {
  test('starts them in slices, with other work in between', async () => {
    const queue = queueOf({ slices: createEventLoopSlices() })
    await queue.run(() => block(30))
    const started: number[] = []
    const tasks = Array.from({ length: 4 }, (_, at) =>
      queue.run(() => {
        block(30)
        started.push(at)
      }),
    )
    assert.deepEqual(started, [])
    for (let turns = 0; started.length < 4; turns++) {
      assert.ok(turns < 100)
      const before: number = started.length
      await new Promise((resolve) => setImmediate(resolve))
      assert.ok(started.length - before <= 1)
    }
    await Promise.all(tasks)
    assert.deepEqual(started, [0, 1, 2, 3])
  })

  test('serves callers round-robin, and runs the rest if one task is no longer wanted', async () => {
    const queue = queueOf({ slices: createEventLoopSlices() })
    await queue.run(() => block(30))
    const started: string[] = []
    const run = (name: string, isWanted = true) =>
      queue.run(() => void started.push(name), { caller: name[0], isWanted: () => isWanted })
    await Promise.allSettled([run('a1'), run('a2'), run('a3', false), run('b1'), run('a4'), run('b2')])
    assert.deepEqual(started, ['a1', 'b1', 'a2', 'b2', 'a4'])
    assert.equal(await queue.run(() => 'at once'), 'at once')
  })
})
