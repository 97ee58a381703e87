import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, type TestContext, test } from 'node:test'
import { keepTrying } from '../../support/keep-trying.ts'
import { openFile, temporaryFolder } from './temporary-storage.ts'

const PLANTS = 20_000
const MEBI = 1024 * 1024

async function openFilled(t: TestContext) {
  const path = join(temporaryFolder(t), 'plants.db')
  const { plants } = await openFile(t, path)
  const importing = plants.openImport({ onConflict: 'keep', dryRun: false })
  for (let from = 0; from < PLANTS; from += 1000) {
    await importing.add(
      Array.from({ length: 1000 }, (_, at) => ({ id: BigInt(from + at), name: 'Rosa alba' })),
    )
  }
  await importing.close()
  await keepTrying(async () => {
    assert.equal(
      (await plants.list({ limit: 1, afterId: BigInt(PLANTS - 2), words: ['rosa'] })).plants.length,
      1,
    )
  })
  return { path, plants }
}

describe('an export', () => {
  test('prevents the log from starting over only while it is running', async (t) => {
    const { path, plants } = await openFilled(t)
    using other = new DatabaseSync(path)
    const isHeld = () => other.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.busy === 1
    for (const filter of [{}, { words: ['rosa'] }]) {
      const steps = plants.exportPlants(filter)[Symbol.asyncIterator]()
      await steps.next()
      await plants.replace(1n, { name: 'Rosa canina' })
      await keepTrying(() => assert.ok(isHeld()))
      await steps.return?.()
      await keepTrying(() => assert.ok(!isHeld()))
    }
  })

  test('that made the log grow frees the disk once it has ended', async (t) => {
    const { path, plants } = await openFilled(t)
    const logBytes = () => statSync(`${path}-wal`).size
    const steps = plants.exportPlants({})[Symbol.asyncIterator]()
    await steps.next()
    for (let id = 0n; id < 80n; id++) await plants.replace(id, { name: 'n'.repeat(MEBI) })
    assert.ok(logBytes() > 80 * MEBI)
    await steps.return?.()
    await keepTrying(async () => {
      await plants.replace(1n, { name: 'n'.repeat(MEBI) })
      assert.ok(logBytes() <= 64 * MEBI, `${logBytes()} bytes`)
    })
  })

  test('that finds little does not delay searches', async (t) => {
    const { plants } = await openFilled(t)
    let isAtEnd = false
    const exporting = (async () => {
      for await (const step of plants.exportPlants({ words: ['rosa'], tag: 'none' })) assert.fail(`${step}`)
      isAtEnd = true
    })()
    // It runs between two reads of the export.
    for (let times = 0; times < 5; times++) await plants.list({ limit: 1, words: ['rosa'] })
    assert.equal(isAtEnd, false)
    await exporting
  })
})
