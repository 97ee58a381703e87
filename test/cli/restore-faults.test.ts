import assert from 'node:assert/strict'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { keepAlsoAs, syncFolder } from '../../src/storage/sqlite/file/partial-file.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/http/start-app.ts'
import { startPlantstore } from '../support/process/plantstore-process.ts'
import { NOBODY, startStore } from './start-store.ts'

const isRoot = process.getuid?.() === 0

/** A store with a plant, its backup `one.db`, and a `restore` that runs in their folder. */
async function startBackedUp(t: TestContext) {
  const store = await startStore(t)
  assert.equal((await store.run(['backup', 'one.db', '--database', 'plants.db'])).code, 0)
  const restore = (...words: string[]) => store.run(['restore', 'one.db', '--database', ...words])
  return { ...store, restore }
}

const keptIn = (folder: string) => readdirSync(folder).filter((name) => name.includes('before-restore'))

test('a read-only store is not assumed to be unused', {
  skip: !isRoot && 'not root',
}, async (t) => {
  const { folder, at, app, run } = await startBackedUp(t)
  // Anybody may rename files in the folder, and read the file.
  chmodSync(folder, 0o777)
  for (const name of readdirSync(folder)) chmodSync(at(name), 0o644)
  const { code, stderr } = await run(['restore', 'one.db', '--database', 'plants.db', '--force'], NOBODY)
  assert.equal(code, 1)
  assert.match(
    stderr,
    /^plantstore: \S+plants\.db cannot be replaced: [^\n]+ Run this as the user of the service[^\n]+\n$/,
  )
  assert.deepEqual(keptIn(folder), [])
  assert.equal((await app.send('POST', '/plants', '{"id":2,"name":"Rosa rugosa"}')).status, 200)
  chmodSync(at('plants.db'), 0o600)
  assert.equal((await run(['restore', 'one.db', '--database', 'plants.db', '--force'], NOBODY)).code, 1)
})

test('a store restored by root belongs to the previous owner, whose log may belong to another user', {
  skip: !isRoot && 'not root',
}, async (t) => {
  const { at, app, folder, restore } = await startBackedUp(t)
  await app.stop()
  chownSync(at('plants.db'), NOBODY, NOBODY)
  writeFileSync(at('plants.db-wal'), '')
  writeFileSync(at('plants.db-shm'), '')
  const { code, stderr } = await restore('plants.db', '--force')
  assert.equal(code, 0, stderr)
  assert.equal(statSync(at('plants.db')).uid, NOBODY)
  assert.deepEqual(readdirSync(folder).sort(), ['one.db', 'plants.db', ...keptIn(folder)])
})

test('a link to a store stays, also a dangling one, and the old store is retained beside its target', async (t) => {
  const { at, app, restore } = await startBackedUp(t)
  await app.stop()
  mkdirSync(at('stores'))
  symlinkSync('stores/plants.db', at('link'))
  for (const flags of [[], ['--force']]) {
    const { code, stderr } = await restore('link', ...flags)
    assert.equal(code, 0, stderr)
    assert.equal(readlinkSync(at('link')), 'stores/plants.db')
  }
  assert.equal(keptIn(at('stores')).length, 1)
  assert.equal(keptIn(at('.')).length, 0)
})

test('each of several restores retains the previous store', async (t) => {
  const { app, folder, restore } = await startBackedUp(t)
  await app.stop()
  for (let run = 0; run < 3; run++) assert.equal((await restore('plants.db', '--force')).code, 0)
  assert.equal(keptIn(folder).length, 3)
})

test('a backup that is truncated, garbage or half zeros is rejected, and the store is unchanged', async (t) => {
  const { at, app, folder, run } = await startBackedUp(t)
  await app.stop()
  const bytes = readFileSync(at('one.db'))
  const variants: Record<string, Buffer> = {
    cut: bytes.subarray(0, bytes.length - 4096),
    'cut in a page': bytes.subarray(0, bytes.length - 5000),
    'first page': bytes.subarray(0, 4096),
    header: bytes.subarray(0, 100),
    zeros: Buffer.alloc(bytes.length),
    'half zeros': Buffer.concat([bytes.subarray(0, 8192), Buffer.alloc(bytes.length - 8192)]),
    scrambled: Buffer.from(bytes.map((byte, index) => byte ^ ((index * 31 + 7) & 0xff))),
  }
  const store = readFileSync(at('plants.db'))
  for (const [name, content] of Object.entries(variants)) writeFileSync(at(name), content)
  const before = readdirSync(folder).sort()
  for (const name of Object.keys(variants)) {
    const { code, stderr } = await run(['restore', name, '--database', 'plants.db', '--force'])
    assert.equal(code, 1, name)
    assert.match(stderr, /^plantstore: [^\n]*(?:damaged|not a Plant Store)[^\n]*\n$/, name)
  }
  assert.deepEqual(readdirSync(folder).sort(), before)
  assert.ok(readFileSync(at('plants.db')).equals(store))
})

test('an invalid place for a store is reported in one line', async (t) => {
  const { at, folder, run } = await startBackedUp(t)
  mkdirSync(at('folder'))
  symlinkSync('loop', at('loop'))
  const before = readdirSync(folder).sort()
  for (const [database, message] of [
    ['folder', /folder is not a file/],
    ['loop', /a link that leads back to itself/],
    ['one.db', /is the database itself/],
    ['one.db-wal', /are files of one database/],
    ['one.db/plants.db', /part of its path is not a folder/],
    ['x'.repeat(300), /its name is too long/],
  ] as const) {
    const { code, stderr } = await run(['restore', 'one.db', '--database', database, '--force'])
    assert.equal(code, 1, database)
    assert.match(stderr, /^plantstore: [^\n]*\n$/)
    assert.match(stderr, message)
  }
  assert.deepEqual(readdirSync(folder).sort(), before)
})

test('a store created during a restore is not replaced', async (t) => {
  const { at, run, folder } = await startBackedUp(t)
  const restoring = startPlantstore(t, ['restore', 'one.db', '--database', 'new.db'], { folder })
  await eventually(() => readdirSync(folder).some((name) => name.startsWith('new.db.')))
  copyFileSync(at('one.db'), at('new.db'))
  const code = await restoring.exit
  // The restore may have been faster; then the store was copied after it.
  if (code !== 0) assert.match(restoring.stderr, /A database was created at new\.db during the restore/)
  assert.equal((await run(['check', '--database', 'new.db'])).code, 0)
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.includes('partial')),
    [],
  )
})

test('without hard links the old store is retained as a copy', (t) => {
  const folder = temporaryFolder(t)
  const [store, kept] = [join(folder, 'plants.db'), join(folder, 'kept')]
  writeFileSync(store, 'plants')
  const failure = (code: string) => () => {
    throw Object.assign(new Error(code), { code })
  }
  keepAlsoAs(store, kept, failure('EPERM'))
  assert.equal(readFileSync(kept, 'utf8'), 'plants')
  assert.ok(statSync(kept).ino !== statSync(store).ino)
  truncateSync(store, 1)
  assert.throws(() => keepAlsoAs(store, kept, failure('ENOTSUP')), /already exists/)
  assert.throws(() => keepAlsoAs(store, join(folder, 'other'), failure('EIO')), /EIO/)
  assert.ok(!existsSync(join(folder, 'other')))
})

test('a file system that cannot sync folders does not make a restore fail', (t) => {
  const failure = (code: string) => () => {
    throw Object.assign(new Error(code), { code })
  }
  const folder = temporaryFolder(t)
  syncFolder(folder, failure('EINVAL'))
  assert.throws(() => syncFolder(folder, failure('EIO')), /EIO/)
})
