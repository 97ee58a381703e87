import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, type TestContext, test } from 'node:test'
import { prepareFile } from '../../../../src/storage/sqlite/connection/open-connection.ts'
import { createUnindexedBatches } from '../../../../src/storage/sqlite/writer/unindexed-batches.ts'
import { temporaryFolder } from '../temporary-storage.ts'

function openBatches(t: TestContext) {
  const path = join(temporaryFolder(t), 'plants.db')
  prepareFile(path, { checkOnStart: false })
  const database = new DatabaseSync(path)
  t.after(() => database.close())
  const insert = database.prepare('INSERT INTO unindexed_batches (plant_ids) VALUES (?)')
  return {
    batches: createUnindexedBatches(database),
    add: (ids: bigint[]) => void insert.run(new Uint8Array(BigInt64Array.from(ids).buffer)),
    sizes: () =>
      database
        .prepare('SELECT length(plant_ids) / 8 AS plants FROM unindexed_batches ORDER BY position')
        .all()
        .map(({ plants }) => plants),
  }
}

/** Takes everything off, step by step. */
function takeAll({ batches }: ReturnType<typeof openBatches>, plantsMax: number): bigint[][] {
  const steps: bigint[][] = []
  for (;;) {
    const { ids, lastPosition } = batches.first(plantsMax)
    if (ids.length === 0) return steps
    batches.remove(lastPosition)
    steps.push([...ids])
  }
}

const falling = (from: number, count: number) => Array.from({ length: count }, (_, at) => BigInt(from - at))

describe('plants that are queued for indexing', () => {
  test('are taken once each, in the order of their ids once sorted, in steps of the requested size', (t) => {
    const open = openBatches(t)
    for (let from = 1000; from > 0; from -= 10) open.add([...falling(from, 10), BigInt(-from)])
    open.add([5n, 6n])
    assert.equal(open.batches.sort(100), true)
    assert.equal(open.batches.sort(100), false, 'once is enough')
    const steps = takeAll(open, 100)
    assert.deepEqual(
      steps.flat(),
      [...falling(1000, 1000), ...Array.from({ length: 100 }, (_, at) => BigInt(-10 * (at + 1)))].sort(
        (one, other) => (one < other ? -1 : 1),
      ),
    )
    assert.deepEqual(new Set(steps.map(({ length }) => length)), new Set([100]))
  })

  test('are not sorted if they are few', (t) => {
    const open = openBatches(t)
    assert.equal(open.batches.sort(100), false)
    open.add([3n, 1n])
    open.add([2n])
    assert.equal(open.batches.sort(100), false)
    assert.deepEqual(takeAll(open, 100), [[3n, 1n, 2n]])
  })

  test('keep their place after those that are sorted at once', (t) => {
    const open = openBatches(t)
    open.add(falling(200_000, 140_000))
    open.add([7n, 3n])
    open.add([1n])
    assert.equal(open.batches.sort(1000), true)
    assert.deepEqual(open.sizes(), [140_000, 2, 1])
    const [sorted, ...rest] = takeAll(open, 1)
    assert.deepEqual(sorted?.slice(0, 2), [60_001n, 60_002n])
    assert.deepEqual(rest, [[7n, 3n], [1n]])
  })

  test('are sorted, too, if they took the places of sorted ones', (t) => {
    const open = openBatches(t)
    for (let times = 0; times < 2; times++) {
      for (const from of [40, 30, 20]) open.add(falling(from, 10))
      assert.equal(open.batches.sort(10), true)
      assert.deepEqual(takeAll(open, 100), [falling(40, 30).reverse()])
    }
  })
})
