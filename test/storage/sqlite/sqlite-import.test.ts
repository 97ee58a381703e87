import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { AppError } from '../../../src/errors.ts'
import { keepTrying } from '../../support/keep-trying.ts'
import { STEP_PLANTS, startImportProcess, stepPlants } from './import-process.ts'
import { openFile, temporaryFolder } from './temporary-storage.ts'

const ROUNDS = 3

describe('a chunk of an import', () => {
  test('that fails midway stores nothing, and the next one works', async (t) => {
    const path = join(temporaryFolder(t), 'plants.db')
    const { plants } = await openFile(t, path)
    using other = new DatabaseSync(path, { timeout: 5_000 })
    other.exec(`CREATE TRIGGER reject BEFORE INSERT ON plants WHEN new.name = 'rejected'
      BEGIN SELECT RAISE(ABORT, 'no'); END`)
    const importing = plants.openImport({ onConflict: 'replace', dryRun: false })
    const step = Array.from({ length: 100 }, (_, at) => ({ id: BigInt(at), name: 'Rosa' }))
    await assert.rejects(
      importing.add([...step, { id: 100n, name: 'rejected' }]),
      (error) => error instanceof AppError && error.code === 50302,
    )
    assert.deepEqual(await plants.list({ limit: 1 }), { plants: [], hasMore: false })
    assert.deepEqual(new Set(await importing.add(step)), new Set(['created']))
    assert.equal((await plants.list({ limit: 1000 })).plants.length, 100)
  })

  test('that was reported as stored survives a kill of the process, and no chunk is stored partially', async (t) => {
    const path = join(temporaryFolder(t), 'plants.db')
    let firstStep = 0
    for (let round = 0; round < ROUNDS; round++) {
      const reported = await startImportProcess(t, path, firstStep).crashAfter(20 + round * 33)
      const storage = await openFile(t, path, { checkOnStart: true })
      const stepsStored = new Map<string, number>()
      for await (const plants of storage.plants.exportPlants({ afterId: BigInt(firstStep * STEP_PLANTS) })) {
        for (const { id, name, tag = '' } of plants) {
          const step = Number(tag.slice('step '.length))
          const sent = stepPlants(step)[Number(id) - step * STEP_PLANTS + STEP_PLANTS / 2]
          assert.deepEqual({ id, name, tag }, sent)
          stepsStored.set(tag, (stepsStored.get(tag) ?? 0) + 1)
        }
      }
      const lastStep = firstStep + reported - 1
      const stored = [...stepsStored.keys()].length
      // At most the two that were running are more than were reported.
      assert.ok(
        stored >= reported && stored <= reported + 2,
        `${stored} steps are stored, ${reported} were reported`,
      )
      assert.ok(stepsStored.has(`step ${lastStep}`))
      assert.equal([...stepsStored.values()].at(-1), STEP_PLANTS, 'the last step is complete')
      firstStep += stored
      await keepTrying(async () => {
        const { plants } = await storage.plants.list({ limit: 1000, words: ['step', String(lastStep)] })
        assert.ok(plants.length >= STEP_PLANTS / 2)
      })
      await storage.close()
    }
  })
})
