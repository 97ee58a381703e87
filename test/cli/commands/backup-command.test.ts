import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startApp, temporaryFolder } from '../../support/http/start-app.ts'
import { MAIN, runCommand } from '../run-command.ts'

/** A store with a plant, and a folder for its backups. */
async function startStore(t: TestContext) {
  const folder = temporaryFolder(t)
  const database = join(folder, 'plants.db')
  const app = await startApp(t, { PLANTSTORE_DATABASE: database })
  await app.send('POST', '/plants', '{"id":9007199254740993,"name":"Açaí palm","tag":"palm"}')
  const backUp = (...words: string[]) => runCommand(t, ['backup', ...words, '--database', database])
  return { folder, database, app, backUp }
}

test('backup reports the number of plants, and writes a single file that only its owner can read', async (t) => {
  const { folder, backUp } = await startStore(t)
  const file = join(folder, 'backups', 'one.db')
  mkdirSync(join(folder, 'backups'))
  const { code, stdout, stderr } = await backUp(file)
  assert.deepEqual([code, stdout], [0, ''])
  assert.match(stderr, /^1 plant in \S+one\.db \(\S+ kB\), verified\.\n$/)
  assert.deepEqual(readdirSync(join(folder, 'backups')), ['one.db'])
  assert.equal(statSync(file).mode & 0o777, 0o600)
  // The versions of the format (sqlite.org/fileformat.html): no log is expected beside the file.
  assert.deepEqual([...readFileSync(file).subarray(18, 20)], [1, 1])
})

test('an existing file is replaced only with --force, and a link to it stays a link', async (t) => {
  const { folder, backUp } = await startStore(t)
  const file = join(folder, 'one.db')
  writeFileSync(file, 'precious')
  const rejected = await backUp(file)
  assert.equal(rejected.code, 1)
  assert.match(rejected.stderr, /^plantstore: \S+one\.db already exists: [^\n]*--force\.\n$/)
  assert.equal(readFileSync(file, 'utf8'), 'precious')
  const link = join(folder, 'latest.db')
  symlinkSync('one.db', link)
  const replaced = await backUp(link, '--force')
  assert.equal(replaced.code, 0, replaced.stderr)
  assert.ok(readFileSync(file).subarray(0, 15).equals(Buffer.from('SQLite format 3')))
})

test('an invalid source or target is reported in one line, and no file is created', async (t) => {
  const { folder, database, backUp } = await startStore(t)
  writeFileSync(join(folder, 'text'), 'no database, and longer than the header of one'.repeat(30))
  const before = readdirSync(folder)
  const file = join(folder, 'one.db')
  const cases: [Promise<{ code: unknown; stderr: string }>, RegExp][] = [
    [backUp(database, '--force'), /is the database itself/],
    [backUp(folder), /is not a file/],
    [
      backUp(join(folder, 'no', 'one.db')),
      /cannot be written to \S+: there is no folder \S+no, create it first\./,
    ],
    [
      runCommand(t, ['backup', file, '--database', join(folder, 'no.db')]),
      /There is no database at \S+no\.db/,
    ],
    [runCommand(t, ['backup', file, '--database', join(folder, 'text')]), /is not a Plant Store/],
    [
      runCommand(t, ['backup', file, '--database', 'postgres://me:secret@host/plants']),
      /is a PostgreSQL database\. Back it up with pg_dump/,
    ],
  ]
  for (const [run, message] of cases) {
    const { code, stderr } = await run
    assert.equal(code, 1, stderr)
    assert.match(stderr, /^plantstore: [^\n]*\n$/)
    assert.match(stderr, message)
    assert.doesNotMatch(stderr, /secret/)
  }
  assert.deepEqual(readdirSync(folder), before)
})

test('a backup on a full disk leaves the existing file unchanged', {
  skip: existsSync('/usr/bin/prlimit') ? false : 'prlimit, of Linux, is not here',
}, async (t) => {
  const { folder, database, app } = await startStore(t)
  for (let id = 1; id <= 20; id++) {
    await app.send('POST', '/plants', JSON.stringify({ id, name: 'r'.repeat(100_000) }))
  }
  const file = join(folder, 'one.db')
  writeFileSync(file, 'precious')
  const limited = [
    '--fsize=1048576',
    process.execPath,
    MAIN,
    'backup',
    file,
    '--force',
    '--database',
    database,
  ]
  assert.throws(
    () => execFileSync('prlimit', limited, { stdio: 'pipe' }),
    ({ status, stderr }: { status: number; stderr: Buffer }) =>
      status === 1 &&
      /^plantstore: (?:The work on \S+ failed|There is no space [^\n]+): [^\n]+\.\n$/.test(String(stderr)),
  )
  assert.equal(readFileSync(file, 'utf8'), 'precious')
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith('one')),
    ['one.db'],
  )
})
