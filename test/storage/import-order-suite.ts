import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { NewPlant } from '../../src/plants/plant.ts'
import type { ImportOptions, ImportOutcome } from '../../src/plants/plant-store.ts'
import type { OpenStorage, SharedStorage } from './opened-storage.ts'

const KEEP: ImportOptions = { onConflict: 'keep', dryRun: false }
const REPLACE: ImportOptions = { onConflict: 'replace', dryRun: false }

const plantsFrom = (firstId: number, count: number, name: string): NewPlant[] =>
  Array.from({ length: count }, (_, at) => ({ id: BigInt(firstId + at), name: `${name} ${at}` }))

export function describeImportOrder(shared: SharedStorage, open: OpenStorage): void {
  describe('imports during other writes', () => {
    test('concurrent chunks take effect in order, dry or not', async () => {
      const { plants } = shared
      for (const dryRun of [true, false]) {
        const importing = plants.openImport({ onConflict: 'replace', dryRun })
        const steps = Array.from({ length: 10 }, (_, at) => [
          { id: 1n, name: `number ${at}` },
          { id: BigInt(100 + at), name: 'Rosa' },
        ])
        const outcomes = await Promise.all(steps.map((step) => importing.add(step)))
        await importing.close()
        assert.deepEqual(outcomes, [
          ['created', 'created'],
          ...Array<ImportOutcome[]>(9).fill(['replaced', 'created']),
        ])
      }
      assert.equal((await plants.get(1n))?.name, 'number 9')
    })

    test('chunks and single writes take effect in the order of the calls', async () => {
      const { plants } = shared
      const keeping = plants.openImport(KEEP)
      const replacing = plants.openImport(REPLACE)
      const [created, kept, deleted, again, changed] = await Promise.all([
        plants.create({ id: 1n, name: 'one' }),
        keeping.add(plantsFrom(1, 2, 'two')),
        plants.delete(1n),
        replacing.add(plantsFrom(1, 2, 'three')),
        plants.update(2n, { tag: 'updated' }),
      ])
      assert.deepEqual(
        [created.outcome, kept, deleted.outcome, again, changed.outcome],
        ['created', ['kept', 'created'], 'deleted', ['created', 'replaced'], 'updated'],
      )
      const { plants: stored } = await plants.list({ limit: 10 })
      assert.deepEqual(
        stored.map(({ id, name, tag }) => [id, name, tag]),
        [
          [1n, 'three 0', undefined],
          [2n, 'three 1', 'updated'],
        ],
      )
    })

    test('an import continues while the queue is full and single writes are rejected', async (t) => {
      const { plants } = await open(t, { queuedWritesMax: 10 })
      const importing = plants.openImport(KEEP)
      const singles = Promise.allSettled(
        Array.from({ length: 100 }, (_, at) => plants.create({ id: BigInt(at), name: 'single' })),
      )
      const outcomes = await Promise.all([
        importing.add(plantsFrom(1000, 10, 'a')),
        importing.add(plantsFrom(2000, 10, 'b')),
        importing.add(plantsFrom(3000, 10, 'c')),
      ])
      assert.equal(outcomes.flat().filter((outcome) => outcome === 'created').length, 30)
      assert.ok((await singles).some(({ status }) => status === 'rejected'))
      await importing.close()
    })

    test('a single write waits for a few chunks only, however many imports are running', async () => {
      const { plants } = shared
      let steps = 0
      const imports = Array.from({ length: 20 }, async (_, at) => {
        const importing = plants.openImport(KEEP)
        const add = async (step: number) => {
          await importing.add(plantsFrom(at * 10_000 + step * 100, 100, 'Rosa'))
          steps++
        }
        await Promise.all([add(0), add(1)])
        await importing.close()
      })
      await plants.create({ id: -1n, name: 'single' })
      // The outcomes of the same commit are reported by then.
      await yieldToEventLoop()
      assert.ok(steps <= 10, `${steps} of 40 steps came before it`)
      await Promise.all(imports)
      assert.equal(steps, 40)
    })
  })
}
