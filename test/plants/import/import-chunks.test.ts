import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../../../src/errors.ts'
import { createImportChunks } from '../../../src/plants/import/import-chunks.ts'
import { createImportRows, failRow } from '../../../src/plants/import/import-rows.ts'
import { IMPORT_CHUNK_PLANTS_MAX } from '../../../src/plants/plant-store.ts'

const FAULT = new AppError(40003, 'no')

test('a bounded number of failed rows is gathered while earlier chunks wait', async () => {
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
  const blocks = 40
  let taken = 0
  const taking = (async () => {
    for (; taken < blocks; taken++) {
      const rows = createImportRows(taken + 2, 100)
      for (let at = 0; at < IMPORT_CHUNK_PLANTS_MAX; at++) failRow(rows, taken + 1, FAULT)
      await chunks.take(rows)
    }
  })()
  // After one turn of the event loop everything is done that needs no settled chunk.
  await new Promise((resolve) => setImmediate(resolve))
  assert.ok(taken <= 3, `${taken} blocks`)
  read()
  await taking
  await chunks.end()
  assert.equal(settled, blocks * IMPORT_CHUNK_PLANTS_MAX)
})

test('failed rows are reported with the chunk of their line, after the plants before them', async () => {
  const reports: { lines: number[]; failed: number[]; nextLine: number }[] = []
  const chunks = createImportChunks({
    add: async (plants) => plants.map(() => 'created' as const),
    async settle({ lines, failures, nextLine }) {
      reports.push({ lines: [...lines], failed: failures.map(({ line }) => line), nextLine })
    },
    onFailure() {},
  })
  const max = IMPORT_CHUNK_PLANTS_MAX
  // One block of rows, longer than a chunk, in which every tenth row fails.
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
