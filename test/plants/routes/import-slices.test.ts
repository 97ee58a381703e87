import assert from 'node:assert/strict'
import { test } from 'node:test'
import { csvRowsOf, ndjsonRowsOf } from '../../../src/plants/routes/import-body.ts'

const CHUNK_BYTES = 32 * 1024
const CSV_PARAMETERS = {
  onConflict: 'fail',
  dryRun: false,
  columns: ['id', 'name'],
  idStart: undefined,
  encoding: undefined,
} as const

for (const [format, row, readRows] of [
  ['NDJSON', '{}\n', ndjsonRowsOf],
  ['CSV', 'a\n', csvRowsOf({ ...CSV_PARAMETERS, columns: [...CSV_PARAMETERS.columns] })],
] as const)
  test(`a chunk of short rows that fail is read in slices, between which others run: ${format}`, async () => {
    const chunk = Buffer.from(row.repeat(CHUNK_BYTES / row.length))
    async function* chunks() {
      yield chunk
      yield chunk
    }
    let turns = 0
    let isOver = false
    const turn = () => {
      turns++
      if (!isOver) setImmediate(turn)
    }
    setImmediate(turn)
    let failed = 0
    let largest = 0
    let slices = 0
    for await (const { failures } of readRows(chunks())) {
      failed += failures.length
      largest = Math.max(largest, failures.length)
      slices++
    }
    isOver = true
    assert.equal(failed, (2 * chunk.length) / row.length)
    assert.ok(largest <= 2_048, `${largest} rows in a slice`)
    assert.ok(turns >= slices / 2, `${turns} turns for ${slices} slices`)
  })

test('a chunk of valid rows is read as a whole', async () => {
  const row = '{"id":1,"name":"a"}\n'
  async function* chunks() {
    for (let at = 0; at < 10; at++) yield Buffer.from(row.repeat(CHUNK_BYTES / row.length))
  }
  const slices: number[] = []
  for await (const { plants } of ndjsonRowsOf(chunks())) slices.push(plants.length)
  // Only the first chunk is read in several slices.
  assert.deepEqual(
    slices.slice(-4, -1).map((plants) => plants * row.length > CHUNK_BYTES - 2 * row.length),
    [true, true, true],
  )
})
