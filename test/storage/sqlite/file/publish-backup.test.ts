import assert from 'node:assert/strict'
import fs, { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { SetupError } from '../../../../src/errors.ts'
import { backUpDatabase } from '../../../../src/storage/sqlite/file/back-up.ts'
import { createPartialFile, publishPartialFile } from '../../../../src/storage/sqlite/file/partial-file.ts'
import { openFile, temporaryFolder } from '../temporary-storage.ts'

/** A leaf of a table's tree (sqlite.org/fileformat2.html#b_tree_pages), with its cell pointers from byte 8 on. */
const LEAF_TABLE_PAGE = 13
const PAGE_BYTES = 4096
const CELL_POINTERS_AT = 8

/** Records the syncs and renames that follow, in their order. */
function recordFileCalls(t: TestContext): string[] {
  const calls: string[] = []
  const paths = new Map<number, string>()
  const { openSync, fsyncSync, renameSync } = fs
  t.mock.method(fs, 'openSync', (...parameters: Parameters<typeof openSync>) => {
    const file = openSync(...parameters)
    paths.set(file, String(parameters[0]))
    return file
  })
  t.mock.method(fs, 'fsyncSync', (file: number) => {
    fsyncSync(file)
    calls.push(`fsync ${paths.get(file)}`)
  })
  t.mock.method(fs, 'renameSync', (from: string, to: string) => {
    renameSync(from, to)
    calls.push(`rename ${from} ${to}`)
  })
  syncBuiltinESMExports()
  t.after(() => {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  })
  return calls
}

test('a file is synced before it gets its name, and the name before the call returns', (t) => {
  const target = join(temporaryFolder(t), 'one.db')
  const partial = createPartialFile(target)
  const calls = recordFileCalls(t)
  publishPartialFile(partial, target)
  assert.deepEqual(calls, [`fsync ${partial}`, `rename ${partial} ${target}`, `fsync ${dirname(target)}`])
})

test('a damaged copy of a store is never published', async (t) => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'plants.db')
  const storage = await openFile(t, path)
  for (let id = 1n; id <= 5n; id++) await storage.plants.create({ id, name: `Quercus ${id}` })
  await storage.close()
  // Every page can be copied and every plant counted, but the ids are out of order.
  const bytes = readFileSync(path)
  let isDamaged = false
  for (let page = PAGE_BYTES; page < bytes.length; page += PAGE_BYTES) {
    if (bytes[page] !== LEAF_TABLE_PAGE || !bytes.subarray(page, page + PAGE_BYTES).includes('Quercus 5'))
      continue
    const first = page + CELL_POINTERS_AT
    bytes.subarray(first, first + 4).swap16()
    bytes.subarray(first, first + 4).reverse()
    isDamaged = true
  }
  assert.ok(isDamaged)
  writeFileSync(path, bytes)
  const backup = backUpDatabase(path, join(folder, 'one.db'), {
    signal: t.signal,
    mayReplace: false,
    onProgress: () => undefined,
  })
  await assert.rejects(backup, (error) => error instanceof SetupError && /is damaged/.test(error.message))
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith('one.db')),
    [],
  )
})
