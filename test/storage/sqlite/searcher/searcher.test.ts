import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AppError } from '../../../../src/errors.ts'
import { keepTrying } from '../../../support/keep-trying.ts'
import { openTemporary } from '../temporary-storage.ts'

describe('searches', () => {
  test('beyond the queue are rejected with 50301, and queued ones get a response', async (t) => {
    const { plants } = await openTemporary(t)
    await plants.create({ id: 1n, name: 'Rosa', tag: 'shrub' })
    const search = () => plants.list({ limit: 10, words: ['rosa'] })
    await keepTrying(async () => assert.equal((await search()).plants.length, 1))

    const results = await Promise.allSettled(Array.from({ length: 400 }, search))
    for (const result of results) {
      if (result.status === 'fulfilled') assert.equal(result.value.plants.length, 1)
      else assert.ok(result.reason instanceof AppError && result.reason.code === 50301, result.reason)
    }
    const rejected = results.filter(({ status }) => status === 'rejected').length
    assert.ok(rejected > 0 && rejected < 400, `${rejected} of 400 were rejected`)
    assert.equal((await search()).plants.length, 1)
  })

  test('do not delay reads by id and pages of the list', async (t) => {
    const { plants } = await openTemporary(t)
    await plants.create({ id: 1n, name: 'Rosa', tag: 'shrub' })
    let responded = 0
    const searches = Array.from({ length: 200 }, async () => {
      await plants.countTags(10)
      responded++
    })
    assert.equal((await plants.get(1n))?.name, 'Rosa')
    assert.equal((await plants.list({ limit: 10 })).plants.length, 1)
    assert.equal(responded, 0, 'the reads did not wait for those before them')
    await Promise.all(searches)
  })

  test('that are queued when the store closes are rejected, so that closing is quick', async (t) => {
    const { plants, activity, close } = await openTemporary(t)
    const imported = plants.openImport({ onConflict: 'keep', dryRun: false })
    for (let step = 0; step < 10; step++) {
      await imported.add(
        Array.from({ length: 500 }, (_, at) => ({
          id: BigInt(step * 500 + at),
          name: 'Rosa canina',
          tag: 'a',
        })),
      )
    }
    await imported.close()
    await keepTrying(() => assert.equal(activity.unindexedPlants(), 0))
    // Each looks at every plant, for some milliseconds.
    const search = () => plants.list({ limit: 10, words: ['rosa'], tag: 'b' })
    const results = Promise.allSettled(Array.from({ length: 250 }, search))
    await close()
    const rejected = (await results).filter(({ status }) => status === 'rejected')
    assert.ok(rejected.length > 0)
    for (const { reason } of rejected as PromiseRejectedResult[]) {
      assert.ok(reason instanceof AppError && reason.code === 50302, reason)
    }
  })
})
