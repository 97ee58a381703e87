import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cpuTimeMs } from '../../support/process/cpu-time.ts'
import { rowsOf } from './read-rows.ts'

test('rows with more or fewer cells than the first one are as fast as others', async () => {
  const elapsedMs = (row: string) => {
    const text = `id,name,tag\n${row.repeat(200_000)}`
    return cpuTimeMs(() => rowsOf(text, [32 * 1024]))
  }
  await elapsedMs('1,abc,\n')
  const evenMs = await elapsedMs('1,abc,\n')
  for (const row of ['1,abc\n', '1,abc,,\n', '\n', '\r\n']) {
    const oddMs = await elapsedMs(row)
    assert.ok(oddMs < 4 * evenMs, `${JSON.stringify(row)}: ${oddMs} ms, others ${evenMs} ms`)
  }
})

test('malformed rows do not take long', async () => {
  for (const bad of [
    '"a"b,'.repeat(10_000),
    `"a"b${'""'.repeat(30_000)}`,
    `"a"b${',"x"'.repeat(15_000)},"y"z`,
  ]) {
    assert.ok((await cpuTimeMs(() => rowsOf(`${bad}\n1,x\n`))) < 2_000, bad.slice(0, 20))
  }
})
