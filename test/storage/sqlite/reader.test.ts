import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { AppError } from '../../../src/errors.ts'
import { createReader } from '../../../src/storage/sqlite/reader.ts'
import { openFile, temporaryFolder } from './temporary-storage.ts'

function openCounter(t: TestContext) {
  const path = join(temporaryFolder(t), 'plants.db')
  const writer = new DatabaseSync(path)
  writer.exec(
    'PRAGMA journal_mode = WAL; CREATE TABLE counter (value INTEGER); INSERT INTO counter VALUES (1)',
  )
  let commits = 0
  const reader = createReader(path, () => commits)
  t.after(() => {
    reader.close()
    writer.close()
  })
  const select = reader.prepare('SELECT value FROM counter')
  return { writer, reader, commit: () => void commits++, value: () => reader.read(() => select.get()?.value) }
}

describe('reads of one turn', () => {
  test('see the same state, and the next turn sees what was committed meanwhile', async (t) => {
    const { writer, value } = openCounter(t)
    assert.equal(value(), 1)
    writer.exec('UPDATE counter SET value = 2')
    assert.equal(value(), 1)
    await setImmediate()
    assert.equal(value(), 2)
  })

  test('see what this process committed before them', (t) => {
    const { writer, commit, value } = openCounter(t)
    assert.equal(value(), 1)
    writer.exec('UPDATE counter SET value = 2')
    commit()
    assert.equal(value(), 2)
  })

  test('go on after one that fails, which fails as the storage does', (t) => {
    const { reader, value } = openCounter(t)
    assert.throws(
      () =>
        reader.read(() => {
          throw new Error('disk I/O error')
        }),
      (error) => error instanceof AppError && error.code === 50302,
    )
    assert.equal(value(), 1)
  })

  test('hold no lock on the log once the turn is over', async (t) => {
    const { writer, value } = openCounter(t)
    value()
    await setImmediate()
    assert.equal(writer.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.busy, 0)
  })

  test('see every write that was acknowledged, however many of them wait in the same turn', async (t) => {
    const { plants } = await openFile(t, join(temporaryFolder(t), 'plants.db'))
    const seen = await Promise.all(
      Array.from({ length: 500 }, async (_, number) => {
        const id = BigInt(number)
        await plants.get(id)
        await plants.create({ id, name: 'Quercus robur' })
        return (await plants.get(id))?.id
      }),
    )
    assert.deepEqual(
      seen,
      seen.map((_, number) => BigInt(number)),
    )
  })
})
