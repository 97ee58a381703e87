import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../../../src/errors.ts'
import { createImportChunks } from '../../../src/plants/import/import-chunks.ts'
import { createImportRows, failRow } from '../../../src/plants/import/import-rows.ts'
import { IMPORT_CHUNK_PLANTS_MAX } from '../../../src/plants/plant-store.ts'

const FAULT = new AppError(40003, 'no')

test('refused rows are not gathered without bound while steps before them wait', async () => {
  const { promise: isRead, resolve: read } = Promise.withResolvers<void>()
  let settled = 0
  const steps = createImportChunks({
    add: async () => [],
    async settle({ refusals }) {
      await isRead
      settled += refusals.length
    },
    onFailure() {},
  })
  const pieces = 40
  let taken = 0
  const taking = (async () => {
    for (; taken < pieces; taken++) {
      const rows = createImportRows(taken + 2, 100)
      for (let at = 0; at < IMPORT_CHUNK_PLANTS_MAX; at++) failRow(rows, taken + 1, FAULT)
      await steps.take(rows)
    }
  })()
  // Whatever can go on without a step coming to its end has done so when the event loop turns.
  await new Promise((resolve) => setImmediate(resolve))
  assert.ok(taken <= 3, `${taken} pieces`)
  read()
  await taking
  await steps.end()
  assert.equal(settled, pieces * IMPORT_CHUNK_PLANTS_MAX)
})
