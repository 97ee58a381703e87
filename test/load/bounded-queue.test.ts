import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AppError } from '../../src/errors.ts'
import { eventually } from '../support/eventually.ts'
import { OVERLOADED, queueOf, startTasks } from './queue-tasks.ts'

const isCode = (code: number) => (error: unknown) => error instanceof AppError && error.code === code

describe('a bounded queue', () => {
  test('runs a task at once if a slot is free, and settles as it does', async () => {
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

  test('runs only as many tasks at once as it has slots, in order', async () => {
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

  test('rejects a task with the reason if the queue is full', async () => {
    const queue = queueOf({ slots: 1, queuedMax: 2 })
    const { run, end } = startTasks(queue)
    const all = ['a', 'b', 'c'].map((name) => run(name))
    await assert.rejects(run('d'), (error) => error === OVERLOADED && OVERLOADED.reason === 'queued-reads')
    for (const name of ['a', 'b', 'c']) await end(name)
    await Promise.all(all)
  })

  test('rejects a task that was queued for too long: with 50302 unless another task succeeded meanwhile', async () => {
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

  test('once closed rejects queued and new tasks, and lets running ones end', async () => {
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

  test('holds a slot until it is released', async () => {
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
  test('are served round-robin, however many tasks one of them has queued', async () => {
    const queue = queueOf({ slots: 1 })
    const { run, end, started } = startTasks(queue)
    for (const name of ['a1', 'a2', 'a3', 'a4']) void run(name, { caller: 'a' })
    for (const name of ['b1', 'b2']) void run(name, { caller: 'b' })
    void run('none')
    for (let at = 0; at < 7; at++) await end(started[at] as string)
    assert.deepEqual(started, ['a1', 'a2', 'b1', 'none', 'a3', 'b2', 'a4'])
  })

  test('get at most three quarters of the slots each', async () => {
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

  test('lose their newest tasks to callers with fewer when the queue is full', async () => {
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
