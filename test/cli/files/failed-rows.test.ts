import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { startApp, temporaryFolder } from '../../support/http/start-app.ts'
import { commandEnvironment, commandsOn, linesOf, MAIN } from '../run-command.ts'

const CASES: {
  name: string
  words: string[]
  input: Buffer
  failed: Buffer
  corrected: Buffer
  again: string[]
}[] = [
  {
    name: 'NDJSON',
    words: ['in.ndjson'],
    input: Buffer.from('{"id":1,"name":"a"}\n\n{"id":"2","name":"b"}\r\n{"id":3}'),
    failed: Buffer.from('{"id":"2","name":"b"}\r\n{"id":3}'),
    corrected: Buffer.from('{"id":2,"name":"b"}\n{"id":3,"name":"c"}\n'),
    again: ['failed.ndjson'],
  },
  {
    name: 'CSV with a byte order mark and rows of several lines',
    words: ['in.csv'],
    input: Buffer.from('\ufeffid,name,note\r\n1,"a\r\nb",x\r\nII,"c\n""d""",y\r\n3,,z\r\n4,e,\r\n'),
    failed: Buffer.from('\ufeffid,name,note\r\nII,"c\n""d""",y\r\n3,,z\r\n'),
    corrected: Buffer.from('\ufeffid,name,note\r\n2,"c\n""d""",y\r\n3,f,z\r\n'),
    again: ['failed.csv'],
  },
  {
    name: 'CSV of Windows without a header row',
    words: ['in.csv', '--columns', 'name,id', '--encoding', 'windows-1252'],
    input: Buffer.from('caf\xe9,1\nth\xe9,II\n', 'latin1'),
    failed: Buffer.from('th\xe9,II\n', 'latin1'),
    corrected: Buffer.from('th\xe9,2\n', 'latin1'),
    again: ['failed.csv', '--columns', 'name,id', '--encoding', 'windows-1252'],
  },
  {
    name: 'UTF-16, compressed, with rows that are numbered',
    words: ['in.csv.gz', '--encoding', 'utf-16le', '--id-start', '-1'],
    input: gzipSync(Buffer.from('\ufeffname,id\r\nĊ,x\r\n,y\r\nb,\r\n', 'utf16le')),
    failed: Buffer.from('\ufeffid,name,former_id\r\n0,,y\r\n', 'utf16le'),
    corrected: Buffer.from('\ufeffid,name,former_id\r\n0,corrected,y\r\n', 'utf16le'),
    again: ['failed.csv', '--encoding', 'utf-16le'],
  },
  {
    name: 'semicolons of a spreadsheet, with rows that are numbered',
    words: ['in.csv', '--encoding', 'windows-1252', '--id-start', '7'],
    input: Buffer.from('\r\n"Id";"Name"\r\nx;"F\xe4rber;\r\nwaid"\r\ny;\r\nz;b,c\r\n', 'latin1'),
    failed: Buffer.from('id;"former_id";"Name"\r\n8;y;\r\n', 'latin1'),
    corrected: Buffer.from('id;"former_id";"Name"\r\n8;y;th\xe9\r\n', 'latin1'),
    again: ['failed.csv', '--encoding', 'windows-1252'],
  },
  {
    name: 'tabs, in UTF-16',
    words: ['in.csv', '--encoding', 'utf-16le'],
    input: Buffer.from('\ufeffid\tname\r\n1\t"a,\tb"\r\nII\tc\r\n', 'utf16le'),
    failed: Buffer.from('\ufeffid\tname\r\nII\tc\r\n', 'utf16le'),
    corrected: Buffer.from('\ufeffid\tname\r\n2\tc\r\n', 'utf16le'),
    again: ['failed.csv', '--encoding', 'utf-16le'],
  },
  {
    name: 'semicolons without a header row',
    words: ['in.csv', '--columns', 'id,name', '--delimiter', 'semicolon'],
    input: Buffer.from('1;a,b\nII;c\n'),
    failed: Buffer.from('II;c\n'),
    corrected: Buffer.from('2;c\n'),
    again: ['failed.csv', '--columns', 'id,name', '--delimiter', 'semicolon'],
  },
]

for (const { name, words, input, failed, corrected, again } of CASES) {
  test(`failed rows are written unchanged, to be corrected and imported again: ${name}`, async (t) => {
    const app = await startApp(t)
    const run = commandsOn(t, app)
    const folder = temporaryFolder(t)
    const [file = '', ...flags] = words
    const errors = again[0] ?? ''
    writeFileSync(join(folder, file), input)
    const first = await run(['import', file, ...flags, '--errors', errors], { folder })
    assert.equal(first.code, 1, first.stderr)
    assert.deepEqual(readFileSync(join(folder, errors)), failed)
    assert.equal(
      linesOf(first.stderr).at(-1),
      `The failed rows are in ${errors}. Correct them, then run: plantstore import ${again.join(' ')}`,
    )
    // The same from a pipe: it cannot be read twice.
    const { format } = file.startsWith('in.ndjson') ? { format: 'ndjson' } : { format: 'csv' }
    if (!file.endsWith('.gz')) {
      const piped = ['import', '-', '--format', format, ...flags, '--errors', `piped.${format}`, '--dry-run']
      await run([...piped, '--on-conflict', 'skip'], { folder, input })
      assert.deepEqual(readFileSync(join(folder, `piped.${format}`)), failed)
    }
    writeFileSync(join(folder, errors), corrected)
    const second = await run(['import', ...again], { folder })
    assert.deepEqual([second.code, second.stderr], [0, ''])
    assert.deepEqual(
      readdirSync(folder).filter((one) => one.endsWith('.partial')),
      [],
    )
  })
}

test('an existing file is replaced by failed rows only, and otherwise unchanged', async (t) => {
  const run = commandsOn(t, await startApp(t))
  const folder = temporaryFolder(t)
  const file = join(folder, 'failed.ndjson')
  const words = ['import', '-', '--format', 'ndjson', '--errors', 'failed.ndjson']
  assert.equal((await run(words, { folder, input: '{"id":1,"name":"a"}\n' })).code, 0)
  assert.deepEqual(readdirSync(folder), [], 'none is made for nothing')
  writeFileSync(file, 'older\n')
  assert.equal((await run(words, { folder, input: 'x\n' })).code, 1)
  assert.equal(readFileSync(file, 'utf8'), 'x\n')
  const kept = /No row failed\. failed\.ndjson is unchanged\.\n/
  const well = await run(words, { folder, input: '{"id":2,"name":"a"}\n' })
  assert.deepEqual([well.code, well.stdout], [0, '1 created.\n'])
  assert.match(well.stderr, kept)
  const environment = { PLANTSTORE_TOKEN: 'no-token-of-this-service' }
  const failed = await run(words, { folder, input: 'x\n', environment })
  assert.equal(failed.code, 1)
  assert.match(failed.stderr, kept)
  assert.equal(readFileSync(file, 'utf8'), 'x\n')
  assert.equal((await run([...words.slice(0, -1), '/dev/null'], { input: '{"id":3,"name":"a"}\n' })).code, 0)
  assert.ok(existsSync('/dev/null'))
})

test('failed rows are compressed if the name of their file ends in .gz', async (t) => {
  const run = commandsOn(t, await startApp(t))
  const folder = temporaryFolder(t)
  const words = ['import', '-', '--format', 'csv', '--errors', 'failed.csv.gz']
  const { stderr } = await run(words, { folder, input: 'id,name\n1,a\nII,b\n' })
  assert.match(stderr, /then run: plantstore import failed\.csv\.gz\n$/)
  const failed = gunzipSync(readFileSync(join(folder, 'failed.csv.gz')))
  assert.equal(String(failed), 'id,name\nII,b\n')
  const again = await run(['import', 'failed.csv.gz'], { folder })
  assert.deepEqual([again.code, again.stdout], [1, '0 created, 1 failed.\n'])
})

test('if failed rows cannot be written, nothing is sent, or the counts are reported', async (t) => {
  const run = commandsOn(t, await startApp(t))
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, 'in.csv'), 'id,name\n1,a\nx,y\n')
  for (const errors of ['no/such/folder.csv', '.', 'in.csv/failed.csv']) {
    const { code, stdout, stderr } = await run(['import', 'in.csv', '--errors', errors], { folder })
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, /^plantstore: Cannot write [^\n]+: [^\n]+\n$/)
  }
  assert.deepEqual([(await run(['list'])).stdout, readdirSync(folder)], ['', ['in.csv']])
  const full = await run(['import', 'in.csv', '--errors', '/dev/full'], { folder })
  assert.deepEqual([full.code, full.stdout], [1, '1 created, 1 failed.\n'])
  assert.match(
    full.stderr,
    /\nplantstore: The failed rows were not written\. Cannot write \/dev\/full: no space left\.\n$/,
  )
})

test('failed rows do not overwrite the file on standard input', async (t) => {
  const app = await startApp(t)
  const folder = temporaryFolder(t)
  const file = join(folder, 'in.csv')
  writeFileSync(file, 'id,name\n1,a\nx,y\n')
  const line = `exec '${process.execPath}' '${MAIN}' import - --format csv --errors in.csv < in.csv`
  const { status } = spawnSync('sh', ['-c', line], {
    cwd: folder,
    env: commandEnvironment(app.url),
    timeout: 10_000,
  })
  assert.equal(status, 2)
  assert.equal(readFileSync(file, 'utf8'), 'id,name\n1,a\nx,y\n')
})
