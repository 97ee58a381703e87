import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { type TestContext, test } from 'node:test'
import { startApp } from '../support/http/start-app.ts'
import { runPlantstore } from '../support/process/plantstore-process.ts'
import { NOBODY, startStore } from './start-store.ts'

const isRoot = process.getuid?.() === 0

/** A store with a plant, and a `backup` and a `check` that run in its folder. */
async function startBackingUp(t: TestContext) {
  const store = await startStore(t)
  const backUp = (...words: string[]) => store.run(['backup', '--database', 'plants.db', ...words])
  const check = (file: string) => store.run(['check', '--database', file])
  return { ...store, backUp, check }
}

test('a backup replaces no part of a store, under any name, even with --force', async (t) => {
  const { at, app, folder, backUp, check } = await startBackingUp(t)
  symlinkSync('plants.db-wal', at('link'))
  symlinkSync('.', at('folder'))
  const names = ['plants.db-wal', 'plants.db-shm', 'plants.db-journal', 'link', 'folder/plants.db-wal']
  for (const name of names) {
    const { code, stderr } = await backUp(name, '--force')
    assert.equal(code, 1, name)
    assert.match(stderr, /^plantstore: \S+ belongs to the database: name another file\.\n$/)
  }
  await startApp(t, { PLANTSTORE_DATABASE: at('other.db') })
  const other = await backUp('other.db', '--force')
  assert.equal(other.code, 1)
  assert.match(
    other.stderr,
    /^plantstore: \S+other\.db-wal belongs to a database that is or was at \S+other\.db: /,
  )
  await app.send('POST', '/plants', '{"id":2,"name":"Rosa rugosa"}')
  for (const file of ['plants.db', 'other.db']) assert.equal((await check(file)).code, 0, file)
  assert.ok(!readdirSync(folder).includes('plants.db-journal'))
})

test('a log without a store does not affect a backup of that name', async (t) => {
  const { at, backUp } = await startBackingUp(t)
  writeFileSync(at('one.db-wal'), readFileSync(at('plants.db-wal')))
  const { code, stderr } = await backUp('one.db')
  assert.equal(code, 1)
  assert.match(stderr, /one\.db-wal belongs to a database that is or was at/)
  assert.ok(!existsSync(at('one.db')))
})

test('a dangling link stays, and the backup is at its target', async (t) => {
  const { at, backUp, check } = await startBackingUp(t)
  mkdirSync(at('backups'))
  symlinkSync('backups/one.db', at('latest'))
  const { code, stderr } = await backUp('latest')
  assert.equal(code, 0, stderr)
  assert.equal(readlinkSync(at('latest')), 'backups/one.db')
  assert.equal((await check('backups/one.db')).code, 0)
})

test('names may have spaces, quotation marks and line breaks, and a store may be given by a link', async (t) => {
  const { at, backUp, check } = await startBackingUp(t)
  symlinkSync('plants.db', at('store'))
  for (const name of ['a b.db', '"\'.db', 'a\nb.db', '-x.db', '%41?mode=ro#.db']) {
    const { code, stderr } = await backUp('--database', 'store', '--', name)
    assert.equal(code, 0, stderr)
    assert.equal((await check(name)).code, 0, name)
  }
})

test('an invalid file name is reported in one line, without a stack trace', async (t) => {
  const { at, folder, run, backUp } = await startBackingUp(t)
  symlinkSync('loop', at('loop'))
  execFileSync('mkfifo', [at('pipe')])
  const before = readdirSync(folder).sort()
  const cases: [string, RegExp, number?][] = [
    ['', /must be the path of a file/, 2],
    ['new/', /must be the path of a file/, 2],
    ['no/such/one.db', /there is no folder no\/such, create it first\.$/m],
    ['x'.repeat(300), /its name is too long/],
    ['x'.repeat(250), /its name is too long/],
    ['loop', /a link that leads back to itself/],
    ['pipe', /is not a file/],
    ['plants.db/one.db', /part of its path is not a folder/],
  ]
  for (const [name, message, expected = 1] of cases) {
    const { code, stderr } = await backUp(name, '--force')
    assert.equal(code, expected, name)
    assert.match(stderr, /^plantstore: [^\n]*\n$/)
    assert.match(stderr, message)
  }
  const long = await run(['backup', 'one.db', '--database', 'x'.repeat(300)])
  assert.match(long.stderr, /^plantstore: x+ cannot be used: its name is too long\.\n$/)
  assert.deepEqual(readdirSync(folder).sort(), before)
})

test('a full disk is reported, and no file is left on it', {
  skip: !isRoot && 'not root',
}, async (t) => {
  const { at, backUp } = await startBackingUp(t)
  mkdirSync(at('full'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=40k', 'tmpfs', at('full')], { stdio: 'pipe' })
  } catch {
    return t.skip('nothing can be mounted here')
  }
  try {
    const { code, stderr } = await backUp('full/one.db')
    assert.equal(code, 1)
    assert.equal(stderr, 'plantstore: There is no space for the copy of plants.db: the disk is full.\n')
    assert.deepEqual(readdirSync(at('full')), [])
  } finally {
    execFileSync('umount', [at('full')])
  }
})

test('missing permissions are reported', { skip: !isRoot && 'not root' }, async (t) => {
  const { at, folder, app, run } = await startBackingUp(t)
  await app.stop()
  chmodSync(folder, 0o755)
  const backUp = (...words: string[]) => run(['backup', '--database', 'plants.db', ...words], NOBODY)
  const hidden = await backUp('one.db')
  assert.equal(hidden.code, 1)
  assert.match(hidden.stderr, /^plantstore: The backup cannot be written to one\.db: permission denied\.\n$/)
  mkdirSync(at('theirs'), { mode: 0o777 })
  chmodSync(at('theirs'), 0o777)
  const unreadable = await backUp('theirs/one.db')
  assert.equal(unreadable.code, 1)
  assert.match(unreadable.stderr, /^plantstore: plants\.db cannot be read: permission denied\.\n$/)
  chmodSync(at('plants.db'), 0o644)
  const readOnly = await backUp('theirs/one.db')
  assert.equal(readOnly.code, 1)
  assert.match(
    readOnly.stderr,
    /^plantstore: plants\.db cannot be read: SQLite needs to write to its folder[^\n]+\n$/,
  )
})

test('two concurrent backups are both complete; to one file, only one is written', async (t) => {
  const { at, folder, check } = await startBackingUp(t)
  // Separate processes: the name of an unfinished file has the process id.
  const backUp = (file: string) => runPlantstore(t, ['backup', '--database', 'plants.db', file], { folder })
  linkSync(at('plants.db'), at('hard link'))
  const [one, two] = await Promise.all([backUp('one.db'), backUp('two.db')])
  assert.deepEqual([one.code, two.code], [0, 0])
  const same = await Promise.all([backUp('same.db'), backUp('same.db'), backUp('same.db')])
  assert.ok(same.some(({ code }) => code === 0))
  for (const { code, stderr } of same) if (code !== 0) assert.match(stderr, /same\.db already exists/)
  for (const file of ['one.db', 'two.db', 'same.db']) assert.equal((await check(file)).code, 0, file)
})
