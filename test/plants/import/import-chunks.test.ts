import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../../../src/errors.ts'
import { createImportChunks } from '../../../src/plants/import/import-chunks.ts'
import { createImportRows, failRow } from '../../../src/plants/import/import-rows.ts'
import { IMPORT_CHUNK_PLANTS_MAX } from '../../../src/plants/plant-store.ts'

const FAULT = new AppError(40003, 'no')

test('failed rows are not gathered without bound while chunks before them wait', async () => {
  const { promise: isRead, resolve: read } = Promise.withResolvers<void>()
  let settled = 0
  const chunks = createImportChunks({
    add: async () => [],
    async settle({ failures }) {
      await isRead
      settled += failures.length
    },
    onFailure() {},
  })
  const pieces = 40
  let taken = 0
  const taking = (async () => {
    for (; taken < pieces; taken++) {
      const rows = createImportRows(taken + 2, 100)
      for (let at = 0; at < IMPORT_CHUNK_PLANTS_MAX; at++) failRow(rows, taken + 1, FAULT)
      await chunks.take(rows)
    }
  })()
  // Whatever can go on without a chunk coming to its end has done so when the event loop turns.
  await new Promise((resolve) => setImmediate(resolve))
  assert.ok(taken <= 3, `${taken} pieces`)
  read()
  await taking
  await chunks.end()
  assert.equal(settled, pieces * IMPORT_CHUNK_PLANTS_MAX)
})

test('failed rows are reported with the chunk that their line is in, after the plants before them', async () => {
  const reports: { lines: number[]; failed: number[]; nextLine: number }[] = []
  const chunks = createImportChunks({
    add: async (plants) => plants.map(() => 'created' as const),
    async settle({ lines, failures, nextLine }) {
      reports.push({ lines: [...lines], failed: failures.map(({ line }) => line), nextLine })
    },
    onFailure() {},
  })
  const max = IMPORT_CHUNK_PLANTS_MAX
  // A failed row on each tenth line, in one block of rows that is longer than a chunk.
  const rows = createImportRows(2 * max + 1, 100)
  for (let line = 1; line <= 2 * max; line++) {
    if (line % 10 === 0) failRow(rows, line, FAULT)
    else {
      rows.plants.push({ id: BigInt(line), name: 'a' })
      rows.lines.push(line)
    }
  }
  await chunks.take(rows)
  await chunks.end()
  assert.ok(reports.length > 1, `${reports.length} chunks`)
  let before = 1
  for (const { lines, failed, nextLine } of reports) {
    const all = [...lines, ...failed]
    assert.ok(
      Math.min(...all) >= before && Math.max(...all) < nextLine,
      `lines from ${before} to ${nextLine}`,
    )
    before = nextLine
  }
  assert.equal(before, 2 * max + 1)
})
