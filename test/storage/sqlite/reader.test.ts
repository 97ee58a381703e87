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
  test('see one snapshot, and those of the next turn see later commits', async (t) => {
    const { writer, value } = openCounter(t)
    assert.equal(value(), 1)
    writer.exec('UPDATE counter SET value = 2')
    assert.equal(value(), 1)
    await setImmediate()
    assert.equal(value(), 2)
  })

  test('see earlier commits of this process', (t) => {
    const { writer, commit, value } = openCounter(t)
    assert.equal(value(), 1)
    writer.exec('UPDATE counter SET value = 2')
    commit()
    assert.equal(value(), 2)
  })

  test('continue after one that fails with a storage error', (t) => {
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

  test('release the lock on the log at the end of the turn', async (t) => {
    const { writer, value } = openCounter(t)
    value()
    await setImmediate()
    assert.equal(writer.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.busy, 0)
  })

  test('see every acknowledged write, however many reads are queued in the turn', async (t) => {
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
