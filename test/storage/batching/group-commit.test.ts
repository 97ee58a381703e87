import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { AppError } from '../../../src/errors.ts'
import {
  type CommitReport,
  createGroupCommit,
  type GroupCommit,
} from '../../../src/storage/batching/group-commit.ts'

const MEBI = 1024 * 1024

/** A commit that the test ends: with an outcome for each operation, or with a failure. */
interface OpenCommit {
  batch: readonly string[]
  succeed(): void
  fail(reason: Error): void
}

/**
 * A group commit of texts whose commits wait for the test; the outcome of an operation is itself in upper
 * case.
 */
function startCommits({ queueMax = 1_000_000 } = {}): {
  commits: GroupCommit<string, string>
  begun: OpenCommit[]
} {
  const begun: OpenCommit[] = []
  const commits = createGroupCommit<string, string>({
    queueMax,
    lag: { begin() {}, end() {}, isTooLong: ({ batches }) => batches >= 2 },
    charactersOf: (text) => text.length,
    commit: (batch) =>
      new Promise((resolve, reject) => {
        begun.push({ batch, succeed: () => resolve(batch.map((text) => text.toUpperCase())), fail: reject })
      }),
  })
  return { commits, begun }
}

function isOverloaded(error: unknown): boolean {
  return error instanceof AppError && error.code === 50301
}

describe('group commit', () => {
  test('operations submitted in one turn are one batch, in the order of submission', async () => {
    const { commits, begun } = startCommits()
    const outcomes = Promise.all(['a', 'b', 'c'].map((text) => commits.submit(text)))
    assert.equal(begun.length, 0)
    await yieldToEventLoop()
    assert.deepEqual(begun[0]?.batch, ['a', 'b', 'c'])
    begun[0]?.succeed()
    assert.deepEqual(await outcomes, ['A', 'B', 'C'])
    assert.equal(begun.length, 1)
  })

  test('one batch runs at a time while the next one is gathered', async () => {
    const { commits, begun } = startCommits()
    const first = commits.submit('first')
    await yieldToEventLoop()
    const others = ['second', 'third'].map((text) => commits.submit(text))
    await yieldToEventLoop()
    others.push(commits.submit('fourth'))
    await yieldToEventLoop()
    assert.equal(begun.length, 1)
    begun[0]?.succeed()
    assert.equal(await first, 'FIRST')
    assert.deepEqual(begun[1]?.batch, ['second', 'third', 'fourth'])
    begun[1]?.succeed()
    assert.deepEqual(await Promise.all(others), ['SECOND', 'THIRD', 'FOURTH'])
  })

  test('an outcome is reported only after its batch is committed', async () => {
    const { commits, begun } = startCommits()
    let isReported = false
    const reported = commits.submit('a').then(() => {
      isReported = true
    })
    for (let turn = 0; turn < 5; turn++) await yieldToEventLoop()
    assert.equal(isReported, false)
    begun[0]?.succeed()
    await reported
  })

  test('a batch has a limit of operations; the others go first in the next one', async () => {
    const { commits, begun } = startCommits()
    const texts = Array.from({ length: 1200 }, (_, at) => `text ${at}`)
    const outcomes = Promise.all(texts.map((text) => commits.submit(text)))
    const batches: (readonly string[])[] = []
    while (batches.flat().length < texts.length) {
      await yieldToEventLoop()
      const commit = begun.at(-1)
      if (commit === undefined || batches.includes(commit.batch)) continue
      batches.push(commit.batch)
      commit.succeed()
    }
    assert.deepEqual(batches.flat(), texts)
    assert.ok(batches.every(({ length }) => length <= 512))
    assert.equal(batches.length, 3)
    assert.deepEqual(
      await outcomes,
      texts.map((text) => text.toUpperCase()),
    )
  })

  test('a batch has a limit of characters; a larger operation is a batch of its own', async () => {
    const { commits, begun } = startCommits()
    const sizes = [1, 3 * MEBI, 1, 3 * MEBI, 9 * MEBI, 1, 1]
    const outcomes = sizes.map((size) => commits.submit('x'.repeat(size)))
    for (let turn = 0; turn < 10; turn++) {
      await yieldToEventLoop()
      begun.at(-1)?.succeed()
    }
    await Promise.all(outcomes)
    const batches = begun.map(({ batch }) => batch.map(({ length }) => length))
    assert.deepEqual(batches, [[1, 3 * MEBI, 1], [3 * MEBI], [9 * MEBI], [1, 1]])
  })

  test('a full queue rejects operations with 50301 until it has room', async () => {
    const { commits, begun } = startCommits({ queueMax: 2 })
    const inFlight = commits.submit('in flight')
    await yieldToEventLoop()
    const waiting = ['a', 'b'].map((text) => commits.submit(text))
    await assert.rejects(commits.submit('too many'), isOverloaded)
    begun[0]?.succeed()
    await inFlight
    const later = commits.submit('later')
    begun[1]?.succeed()
    await Promise.all(waiting)
    await yieldToEventLoop()
    begun[2]?.succeed()
    assert.equal(await later, 'LATER')
    assert.deepEqual(
      begun.map(({ batch }) => batch),
      [['in flight'], ['a', 'b'], ['later']],
    )
  })

  test('the lag counts the queued batches, by operations or characters, and does not reject any', async () => {
    for (const text of ['a', 'x'.repeat(2 * MEBI)]) {
      const { commits, begun } = startCommits()
      const batchMax = text === 'a' ? 512 : 2
      const outcomes = [commits.submit(text)]
      await yieldToEventLoop()
      for (let count = 1; count < 2 * batchMax; count++) outcomes.push(commits.submit(text))
      assert.equal(commits.isLagging(), false)
      outcomes.push(commits.submit(text))
      assert.equal(commits.isLagging(), true)
      for (let at = 0; at < 3; at++) {
        begun[at]?.succeed()
        await yieldToEventLoop()
      }
      await Promise.all(outcomes)
      assert.equal(commits.isLagging(), false)
    }
  })

  test('the queue length is reported, and every commit once it has ended', async () => {
    const { commits, begun } = startCommits()
    const reports: CommitReport[] = []
    commits.onCommit((commit) => reports.push(commit))
    const first = ['a', 'b', 'c'].map((text) => commits.submit(text))
    assert.equal(commits.queued(), 3)
    await yieldToEventLoop()
    assert.equal(commits.queued(), 0)
    const second = commits.submit('d')
    assert.equal(commits.queued(), 1)
    assert.deepEqual(reports, [])
    begun[0]?.succeed()
    await Promise.all(first)
    await yieldToEventLoop()
    begun[1]?.fail(new Error('the disk is gone'))
    await assert.rejects(second)
    assert.deepEqual(
      reports.map(({ operations, isDurable }) => [operations, isDurable]),
      [
        [3, true],
        [1, false],
      ],
    )
    assert.ok(reports.every(({ durationMs }) => durationMs > 0))
  })

  test('a queue of few but large operations is full, too, and empties', async () => {
    const { commits, begun } = startCommits()
    const large = 'x'.repeat(3 * MEBI)
    const results: Promise<string>[] = []
    for (let at = 0; at < 30; at++) results.push(commits.submit(large))
    const settled = Promise.allSettled(results)
    for (let turn = 0; turn < 100; turn++) {
      await yieldToEventLoop()
      begun.at(-1)?.succeed()
    }
    const stored = (await settled).filter(({ status }) => status === 'fulfilled').length
    assert.ok(stored >= 20 && stored < 30, `${stored} of 30 were taken`)
    assert.equal(begun.flatMap(({ batch }) => batch).length, stored)
    const again = commits.submit(large)
    await yieldToEventLoop()
    begun.at(-1)?.succeed()
    assert.equal((await again).length, large.length)
  })

  test('a failed batch rejects its own operations only, and the next one is committed', async () => {
    const { commits, begun } = startCommits()
    const failing = Promise.allSettled(['a', 'b'].map((text) => commits.submit(text)))
    await yieldToEventLoop()
    const next = commits.submit('c')
    const reason = new Error('the disk is gone')
    begun[0]?.fail(reason)
    assert.deepEqual(await failing, [
      { status: 'rejected', reason },
      { status: 'rejected', reason },
    ])
    begun[1]?.succeed()
    assert.equal(await next, 'C')
  })

  test('a drain ends when every operation has an outcome or has failed', async () => {
    const { commits, begun } = startCommits()
    await commits.drain()
    const outcomes = Promise.allSettled([commits.submit('a')])
    let isDrained = false
    const drained = commits.drain().then(() => {
      isDrained = true
    })
    await yieldToEventLoop()
    const later = Promise.allSettled([commits.submit('b')])
    begun[0]?.succeed()
    await outcomes
    await yieldToEventLoop()
    assert.equal(isDrained, false)
    begun[1]?.fail(new Error('the disk is gone'))
    await later
    await drained
    await commits.drain()
  })
})
