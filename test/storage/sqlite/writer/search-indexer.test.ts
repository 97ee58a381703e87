import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, type TestContext, test } from 'node:test'
import { prepareFile } from '../../../../src/storage/sqlite/connection/open-connection.ts'
import { createSearchIndexer } from '../../../../src/storage/sqlite/writer/search-indexer.ts'
import { eventually } from '../../../support/eventually.ts'
import { keepTrying } from '../../../support/keep-trying.ts'
import { openTemporary, temporaryFolder } from '../temporary-storage.ts'

/** A third of a small step would be left over if steps did not keep to whole batches. */
const BATCH_PLANTS = 70

/** A database of its own with `count` plants named Rosa that are not indexed yet. */
function plantedFile(t: TestContext, count: number) {
  const path = join(temporaryFolder(t), 'plants.db')
  prepareFile(path, { checkOnStart: false })
  const database = new DatabaseSync(path, { timeout: 0 })
  t.after(() => database.close())
  database.exec(`
    WITH RECURSIVE numbers (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM numbers WHERE id < ${count})
    INSERT INTO plants SELECT id, 'Rosa', NULL, 1, 1, 1 FROM numbers`)
  const insertBatch = database.prepare('INSERT INTO unindexed_batches (plant_ids) VALUES (?)')
  for (let first = 1; first <= count; first += BATCH_PLANTS) {
    const ids = Array.from({ length: Math.min(BATCH_PLANTS, count - first + 1) }, (_, at) =>
      BigInt(first + at),
    )
    insertBatch.run(new Uint8Array(BigInt64Array.from(ids).buffer))
  }
  const numberOf = (sql: string) => Number(Object.values(database.prepare(sql).get() ?? {})[0])
  return {
    path,
    database,
    unindexed: () => numberOf('SELECT coalesce(sum(length(plant_ids)), 0) / 8 FROM unindexed_batches'),
    found: () => numberOf("SELECT count(*) FROM plant_words WHERE plant_words MATCH 'rosa'"),
  }
}

/** Stops the clock, and returns what lets time pass, millisecond by millisecond. */
function mockTime(t: TestContext): (byMs: number) => void {
  let nowMs = performance.now()
  t.mock.timers.enable({ apis: ['setTimeout'] })
  t.mock.method(performance, 'now', () => nowMs)
  return (byMs) => {
    for (let passedMs = 0; passedMs < byMs; passedMs++) {
      nowMs++
      t.mock.timers.tick(1)
    }
  }
}

describe('the search index', () => {
  test('grows during continuous writes, and is complete soon after them', async (t) => {
    const { plants } = await openTemporary(t)
    let isWriting = true
    let nextId = 0n
    const write = async () => {
      while (isWriting) {
        const id = nextId++
        await plants.create({ id, name: id === 1000n ? 'Tulipa' : 'Rosa' })
      }
    }
    const writing = Promise.all(Array.from({ length: 4 }, write))
    try {
      await keepTrying(async () => {
        assert.deepEqual(
          (await plants.list({ limit: 10, words: ['tulipa'] })).plants.map(({ id }) => id),
          [1000n],
        )
      })
      const writtenMeanwhile = nextId
      // The writes went on.
      await eventually(() => nextId > writtenMeanwhile)
    } finally {
      isWriting = false
      await writing
    }
    await keepTrying(async () => {
      const { plants: last } = await plants.list({ limit: 1, afterId: nextId - 2n, words: ['rosa'] })
      assert.equal(last.length, 1)
    })
  })

  test('is brought up to date when the indexer starts, in several steps', async (t) => {
    const file = plantedFile(t, 5000)
    const indexer = createSearchIndexer(file.database, assert.fail)
    t.after(() => indexer.stop())
    await keepTrying(() => assert.equal(file.unindexed(), 0))
    assert.equal(file.found(), 5000)
  })

  test('is updated in small steps, far apart, during continuous writes', (t) => {
    const file = plantedFile(t, 1000)
    const passTime = mockTime(t)
    const indexer = createSearchIndexer(file.database, assert.fail)
    t.after(() => indexer.stop())
    const steps: { plants: number; atMs: number }[] = []
    let before = file.unindexed()
    for (let atMs = 0; atMs < 2000 && before > 0; atMs++) {
      indexer.recordWrites(1)
      passTime(1)
      const left = file.unindexed()
      if (left < before) steps.push({ plants: before - left, atMs })
      before = left
    }
    assert.equal(before, 0, 'the index moves on')
    for (const [at, { plants, atMs }] of steps.entries()) {
      assert.ok(plants < 200 + BATCH_PLANTS, `${plants} in one step`)
      assert.ok(at === 0 || atMs - (steps[at - 1]?.atMs ?? 0) >= 200, `a step at ${atMs} ms`)
    }
  })

  test('is updated quickly during continuous writes that take little time', (t) => {
    const file = plantedFile(t, 40 * BATCH_PLANTS)
    const passTime = mockTime(t)
    const indexer = createSearchIndexer(file.database, assert.fail)
    t.after(() => indexer.stop())
    for (let atMs = 0; atMs < 300; atMs++) {
      indexer.recordWrites(0.1)
      passTime(1)
    }
    assert.equal(file.unindexed(), 0)
    assert.equal(file.found(), 40 * BATCH_PLANTS)
  })

  test('has every plant once its batches were sorted by id, written twice or not', async (t) => {
    const file = plantedFile(t, 5000)
    const shuffled = Array.from({ length: 5000 }, (_, at) => BigInt(((at * 3001) % 5000) + 1))
    const insertBatch = file.database.prepare('INSERT INTO unindexed_batches (plant_ids) VALUES (?)')
    for (let from = 0; from < 5000; from += 1300) {
      const ids = BigInt64Array.from(shuffled.slice(from, from + 1300))
      insertBatch.run(new Uint8Array(ids.buffer))
    }
    const indexer = createSearchIndexer(file.database, assert.fail)
    t.after(() => indexer.stop())
    await keepTrying(() => assert.equal(file.unindexed(), 0))
    assert.equal(file.found(), 5000)
  })

  test('loses nothing if a step fails: it is retried, and the failure is reported once', (t) => {
    const file = plantedFile(t, 10)
    const passTime = mockTime(t)
    const troubles: string[] = []
    using other = new DatabaseSync(file.path)
    other.exec('BEGIN IMMEDIATE')
    const indexer = createSearchIndexer(file.database, (trouble) => troubles.push(trouble))
    t.after(() => indexer.stop())
    passTime(3000)
    assert.equal(file.unindexed(), 10)
    other.exec('ROLLBACK')
    passTime(3000)
    assert.equal(file.unindexed(), 0)
    assert.equal(file.found(), 10)
    file.database.exec(
      'INSERT INTO unindexed_batches (plant_ids) VALUES (zeroblob(8)); DROP TABLE plant_words',
    )
    indexer.recordWrites(1)
    passTime(3000)
    assert.deepEqual(troubles, [
      'Names cannot be indexed for search: database is locked.',
      'Names cannot be indexed for search: no such table: plant_words.',
    ])
  })

  test('does not change once the indexer is stopped', (t) => {
    const file = plantedFile(t, 10)
    const passTime = mockTime(t)
    const indexer = createSearchIndexer(file.database, assert.fail)
    indexer.stop()
    indexer.recordWrites(1)
    passTime(3000)
    assert.equal(file.unindexed(), 10)
  })
})
