import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AppError } from '../../src/errors.ts'
import { BoundedQueue, type BoundedQueueOptions, type RunOptions } from '../../src/load/bounded-queue.ts'
import { createEventLoopSlices } from '../../src/load/event-loop-slices.ts'
import { createSharedSlots } from '../../src/load/shared-slots.ts'
import { eventually } from '../support/eventually.ts'

const OVERLOADED = new AppError(50301, 'Too many reads are queued.', { reason: 'queued-reads' })

const isCode = (code: number) => (error: unknown) => error instanceof AppError && error.code === code

function queueOf(options: Partial<BoundedQueueOptions> = {}): BoundedQueue {
  return new BoundedQueue({ queuedMax: 100, overloaded: OVERLOADED, ...options })
}

/** Runs tasks in a queue that end when they are told to, and lists those that have started. */
function startTasks(queue: BoundedQueue) {
  const started: string[] = []
  const ends = new Map<string, PromiseWithResolvers<string>>()
  return {
    started,
    run(name: string, options?: RunOptions): Promise<string> {
      return queue.run(() => {
        started.push(name)
        const end = Promise.withResolvers<string>()
        ends.set(name, end)
        return end.promise
      }, options)
    },
    async end(name: string): Promise<void> {
      ends.get(name)?.resolve(name)
      await ends.get(name)?.promise
    },
    fail: (name: string) => ends.get(name)?.reject(new Error(`${name} failed`)),
  }
}

function holdUp(ms: number): void {
  const endMs = performance.now() + ms
  while (performance.now() < endMs);
}

describe('a bounded queue', () => {
  test('runs a task at once while a slot is free, and settles as it does', async () => {
    const queue = queueOf({ slots: 1 })
    let hasRun = false
    const value = queue.run(() => {
      hasRun = true
      return 'value'
    })
    assert.equal(hasRun, true)
    assert.equal(await value, 'value')
    assert.equal(await queue.run(async () => 'later'), 'later')
    assert.deepEqual([queue.running, queue.queued], [0, 0])
  })

  test('returns the promise of a task that starts at once', () => {
    const promise = Promise.resolve(1)
    assert.equal(
      queueOf({ slots: 1 }).run(() => promise),
      promise,
    )
  })

  test('runs no more tasks at once than it has slots, in their order', async () => {
    const queue = queueOf({ slots: 2 })
    const { run, end, started } = startTasks(queue)
    const all = Promise.all(['a', 'b', 'c', 'd'].map((name) => run(name)))
    assert.deepEqual(started, ['a', 'b'])
    assert.deepEqual([queue.running, queue.queued], [2, 2])
    await end('b')
    assert.deepEqual(started, ['a', 'b', 'c'])
    await end('a')
    assert.deepEqual(started, ['a', 'b', 'c', 'd'])
    await end('c')
    await end('d')
    assert.deepEqual(await all, ['a', 'b', 'c', 'd'])
    assert.deepEqual([queue.running, queue.queued], [0, 0])
  })

  test('frees the slot of a task that throws or rejects', async () => {
    const queue = queueOf({ slots: 1 })
    const { run, fail, started } = startTasks(queue)
    await assert.rejects(
      queue.run(() => {
        throw new Error('thrown')
      }),
      /thrown/,
    )
    const first = run('a')
    const second = run('b')
    const third = queue.run(() => {
      throw new Error('thrown later')
    })
    fail('a')
    await assert.rejects(first, /a failed/)
    assert.deepEqual(started, ['a', 'b'])
    fail('b')
    await assert.rejects(second, /b failed/)
    await assert.rejects(third, /thrown later/)
    assert.equal(await queue.run(() => 'free'), 'free')
  })

  test('rejects one task more than may be queued, with the reason', async () => {
    const queue = queueOf({ slots: 1, queuedMax: 2 })
    const { run, end } = startTasks(queue)
    const all = ['a', 'b', 'c'].map((name) => run(name))
    await assert.rejects(run('d'), (error) => error === OVERLOADED && OVERLOADED.reason === 'queued-reads')
    for (const name of ['a', 'b', 'c']) await end(name)
    await Promise.all(all)
  })

  test('rejects what is queued for too long: with 50302 unless a task ended well meanwhile', async () => {
    const queue = queueOf({ slots: 1, waitMaxMs: 50 })
    const { run, end, started } = startTasks(queue)
    const first = run('a')
    await assert.rejects(run('b'), isCode(50302))
    const late = run('c')
    const later = run('d')
    await end('a')
    await first
    await assert.rejects(later, isCode(50301))
    await end('c')
    await late
    assert.deepEqual(started, ['a', 'c'])
    assert.deepEqual([queue.running, queue.queued], [0, 0])
  })

  test('does not run a queued task that is no longer wanted', async () => {
    const queue = queueOf({ slots: 1 })
    const { run, end, started } = startTasks(queue)
    let isWanted = true
    const tasks = [run('a'), run('b', { isWanted: () => isWanted }), run('c')]
    isWanted = false
    await end('a')
    await end('c')
    const results = await Promise.allSettled(tasks)
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
    await assert.rejects(tasks[1] as Promise<string>, isCode(40000))
    assert.deepEqual(started, ['a', 'c'])
  })

  test('once closed rejects what is queued and what comes, and lets what runs end', async () => {
    const queue = queueOf({ slots: 1, waitMaxMs: 60_000 })
    const { run, end } = startTasks(queue)
    const first = run('a')
    const second = run('b', { caller: 'other' })
    queue.close(new AppError(50302, 'The storage is closed.'))
    await assert.rejects(second, isCode(50302))
    await assert.rejects(run('c'), isCode(50302))
    await end('a')
    assert.equal(await first, 'a')
    assert.deepEqual([queue.running, queue.queued], [0, 0])
  })

  test('lends a slot until it is given back', async () => {
    const queue = queueOf({ slots: 1, queuedMax: 0 })
    const release = await queue.takeSlot()
    await assert.rejects(queue.takeSlot(), isCode(50301))
    release()
    await eventually(() => queue.running === 0)
    const again = await queue.takeSlot()
    again()
  })
})

describe('callers of a bounded queue', () => {
  test('take turns, however many tasks one of them has queued', async () => {
    const queue = queueOf({ slots: 1 })
    const { run, end, started } = startTasks(queue)
    for (const name of ['a1', 'a2', 'a3', 'a4']) void run(name, { caller: 'a' })
    for (const name of ['b1', 'b2']) void run(name, { caller: 'b' })
    void run('none')
    for (let at = 0; at < 7; at++) await end(started[at] as string)
    assert.deepEqual(started, ['a1', 'a2', 'b1', 'none', 'a3', 'b2', 'a4'])
  })

  test('get three quarters of the slots each at most', async () => {
    const queue = queueOf({ slots: 4 })
    const { run, end, started } = startTasks(queue)
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) void run(name, { caller: 'a' })
    assert.deepEqual(started, ['a1', 'a2', 'a3'])
    void run('b1', { caller: 'b' })
    void run('b2', { caller: 'b' })
    assert.deepEqual(started, ['a1', 'a2', 'a3', 'b1'])
    await end('a1')
    await end('a2')
    assert.deepEqual(started, ['a1', 'a2', 'a3', 'b1', 'a4', 'b2'])
    for (const name of ['b1', 'a3', 'a4', 'b2', 'a5']) await end(name)
    assert.deepEqual(started.slice(6), ['a5'])
    assert.deepEqual([queue.running, queue.queued], [0, 0])
  })

  test('lose their newest tasks to those that have fewer when the queue is full', async () => {
    const queue = queueOf({ slots: 1, queuedMax: 4 })
    const { run, end, started } = startTasks(queue)
    const greedy = ['a1', 'a2', 'a3', 'a4', 'a5'].map((name) => run(name, { caller: 'a' }))
    await assert.rejects(run('a6', { caller: 'a' }), isCode(50301))
    const modest = ['b1', 'b2'].map((name) => run(name, { caller: 'b' }))
    await assert.rejects(run('b3', { caller: 'b' }), isCode(50301))
    for (let at = 0; at < 5; at++) await end(started[at] as string)
    assert.deepEqual(started, ['a1', 'a2', 'b1', 'a3', 'b2'])
    await Promise.all(modest)
    const results = await Promise.allSettled(greedy)
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'rejected'],
    )
  })
})

describe('queues that share slots', () => {
  test('run no more tasks in all than there are, each no more than it may, in rotation', async () => {
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

describe('a queue of tasks that hold up the event loop', () => {
  test('starts them in slices, so that others are served in between', async () => {
    const queue = queueOf({ slices: createEventLoopSlices() })
    await queue.run(() => holdUp(30))
    const started: number[] = []
    const tasks = Array.from({ length: 4 }, (_, at) =>
      queue.run(() => {
        holdUp(30)
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

  test('lets the callers take turns, and runs the rest when one is no longer wanted', async () => {
    const queue = queueOf({ slices: createEventLoopSlices() })
    await queue.run(() => holdUp(30))
    const started: string[] = []
    const run = (name: string, isWanted = true) =>
      queue.run(() => void started.push(name), { caller: name[0], isWanted: () => isWanted })
    await Promise.allSettled([run('a1'), run('a2'), run('a3', false), run('b1'), run('a4'), run('b2')])
    assert.deepEqual(started, ['a1', 'b1', 'a2', 'b2', 'a4'])
    assert.equal(await queue.run(() => 'at once'), 'at once')
  })
})
