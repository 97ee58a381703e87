import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError, type WriteOutcome } from '../../../src/errors.ts'
import { createImportRows } from '../../../src/plants/import/import-rows.ts'
import { runPlantImport } from '../../../src/plants/import/run-import.ts'
import { IMPORT_CHUNK_PLANTS_MAX, type ImportOutcome } from '../../../src/plants/plant-store.ts'

/** What the storage does with a chunk. */
type Chunk = ImportOutcome | unknown

const NOT_STORED = new AppError(50302, undefined, { details: { outcome: 'none' } })
const LOST = new AppError(50302, undefined, { details: { outcome: 'unknown' } })

/** The outcome of an import of full chunks, of which the storage does this. The last ones are added together. */
async function outcomeOf(...chunks: Chunk[]): Promise<WriteOutcome | undefined> {
  let added = 0
  const bothAdded = Promise.withResolvers<void>()
  const plants = {
    openImport: () => ({
      async add(rows: readonly unknown[]): Promise<ImportOutcome[]> {
        const chunk = chunks[added]
        added++
        if (added === chunks.length) bothAdded.resolve()
        if (added >= chunks.length - 1) await bothAdded.promise
        if (typeof chunk !== 'string') throw chunk
        return rows.map(() => chunk as ImportOutcome)
      },
      async close() {},
    }),
  }
  async function* rows() {
    for (let at = 0; at < chunks.length; at++) {
      const block = createImportRows((at + 1) * IMPORT_CHUNK_PLANTS_MAX + 1, 100)
      for (let line = block.nextLine - IMPORT_CHUNK_PLANTS_MAX; line < block.nextLine; line++) {
        block.plants.push({ id: BigInt(line), name: 'a' })
        block.lines.push(line)
      }
      yield block
    }
  }
  try {
    await runPlantImport({ plants, onConflict: 'skip', dryRun: false, rows, onSettled: () => undefined })
  } catch (error) {
    assert.ok(error instanceof AppError)
    return error.details?.outcome
  }
  return undefined
}

test('the outcome is "none" if the first chunk fails and no chunk is stored', async () => {
  assert.equal(await outcomeOf(NOT_STORED, NOT_STORED), 'none')
  for (const code of [50301, 50303, 50701] as const) {
    assert.equal(await outcomeOf(new AppError(code), NOT_STORED), 'none', String(code))
  }
  assert.equal(await outcomeOf(NOT_STORED, 'kept'), 'none')
})

test('the outcome is stored-before-line if a later chunk fails and no chunk after it is stored', async () => {
  assert.equal(await outcomeOf('created', NOT_STORED), 'stored-before-line')
  assert.equal(await outcomeOf('created', NOT_STORED, NOT_STORED), 'stored-before-line')
  assert.equal(await outcomeOf('created', NOT_STORED, 'kept'), 'stored-before-line')
})

test('the outcome is unknown if the failed chunk, or one after it, may be stored', async () => {
  assert.equal(await outcomeOf(LOST, NOT_STORED), 'unknown')
  assert.equal(await outcomeOf(new AppError(50302), NOT_STORED), 'unknown')
  assert.equal(await outcomeOf(new TypeError('x is not a function'), NOT_STORED), 'unknown')
  assert.equal(await outcomeOf('created', NOT_STORED, LOST), 'unknown')
  assert.equal(await outcomeOf('created', NOT_STORED, 'created'), 'unknown')
  assert.equal(await outcomeOf(NOT_STORED, 'replaced'), 'unknown')
})
