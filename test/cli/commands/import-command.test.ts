import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { startApp, temporaryFolder } from '../../support/http/start-app.ts'
import { commandsOn, linesOf } from '../run-command.ts'

test('the ending of its name decides how a file is imported, also compressed, or from standard input', async (t) => {
  const run = commandsOn(t, await startApp(t))
  const folder = temporaryFolder(t)
  const files: [string, string | Buffer][] = [
    ['one.ndjson', '{"id":1,"name":"a"}\n{"id":9007199254740993,"name":"b"}\n'],
    ['two.jsonl.gz', gzipSync('{"id":2,"name":"a"}\n')],
    ['three.csv', 'id,name\n3,a\n'],
    ['FOUR.CSV.GZ', gzipSync('id,name\n4,a\n')],
  ]
  for (const [name, content] of files) {
    writeFileSync(join(folder, name), content)
    const { code, stdout, stderr } = await run(['import', name], { folder })
    assert.deepEqual([code, stderr], [0, ''], name)
    assert.match(stdout, /^\d created\.\n$/)
  }
  const piped = await run(['import', '-', '--format', 'csv'], { input: 'name,id\nb,5\n' })
  assert.deepEqual(piped, { code: 0, stdout: '1 created.\n', stderr: '' })
  const ids = linesOf((await run(['list'])).stdout).map((line) => line.split('\t')[0])
  assert.deepEqual(ids, ['1', '2', '3', '4', '5', '9007199254740993'])
})

test('an export is imported unchanged into another service', async (t) => {
  const [one, other] = await Promise.all([startApp(t), startApp(t)])
  const names = ['=1+1', '"quoted"', 'line\r\nbreak', ' outer ', 'Medicago ×varia', '植物']
  for (const [id, name] of names.entries()) {
    await one.send('POST', '/plants', JSON.stringify({ id, name, tag: 'a,b' }))
  }
  for (const format of ['ndjson', 'csv']) {
    const exported = await commandsOn(t, one)(['export', '--format', format])
    const words = ['import', '-', '--format', format, '--on-conflict', 'replace']
    assert.equal((await commandsOn(t, other)(words, { input: exported.stdout })).code, 0)
    const plants = (await (await other.fetch('/plants')).json()) as { name: string; tag: string }[]
    assert.deepEqual(
      plants.map(({ name }) => name),
      names,
    )
    assert.ok(plants.every(({ tag }) => tag === 'a,b'))
  }
})

test('failed rows are reported, the others are stored, and the exit code is 1', async (t) => {
  const app = await startApp(t)
  const run = commandsOn(t, app)
  await run(['create', '2', 'taken'])
  const input = '{"id":1,"name":"a"}\n{"id":2,"name":"b"}\nno json\n{"id":9007199254740993,"name":7}\n'
  const { code, stdout, stderr } = await run(['import', '-', '--format', 'ndjson'], { input })
  assert.deepEqual([code, stdout], [1, '1 created, 3 failed.\n'])
  const lines = linesOf(stderr)
  assert.equal(lines.length, 3)
  assert.match(lines[0] ?? '', /^line 2, id 2: .* \(code 40901\)$/)
  assert.match(lines[1] ?? '', /^line 3: .* \(code 40002\)$/)
  assert.match(lines[2] ?? '', /^line 4, id 9007199254740993: name .* \(code 40003\)$/)

  const json = await run(['import', '-', '--format', 'ndjson', '--json', '--on-conflict', 'skip'], { input })
  assert.equal(json.code, 1)
  assert.match(
    json.stdout,
    /^\{"created":0,"replaced":0,"skipped":2,"failed":2,"errors":\[\{"line":3,"error":40002,"message":"[^\n]*\{"line":4,"id":9007199254740993,"error":40003,[^\n]*\]\}\n$/,
  )
  const many = await run(['import', '-', '--format', 'ndjson'], { input: 'x\n'.repeat(50) })
  assert.deepEqual([linesOf(many.stderr).length, linesOf(many.stderr).at(-1)], [21, 'and 30 more'])
})

test('rows whose id is used are skipped or replace the plant, and a dry run changes nothing', async (t) => {
  const run = commandsOn(t, await startApp(t))
  await run(['create', '1', 'old'])
  const input = 'id,name\n1,new\n2,other\n'
  const words = ['import', '-', '--format', 'csv']
  const dry = await run([...words, '--dry-run', '--on-conflict', 'replace'], { input })
  assert.equal(dry.stdout, 'Dry run, nothing stored: 1 created, 1 replaced.\n')
  const skipped = await run([...words, '--on-conflict', 'skip'], { input })
  assert.deepEqual([skipped.code, skipped.stdout], [0, '1 created, 1 skipped.\n'])
  assert.match((await run(['get', '1'])).stdout, /\told\t/)
  const replaced = await run([...words, '--on-conflict', 'replace'], { input })
  assert.deepEqual([replaced.code, replaced.stdout], [0, '0 created, 2 replaced.\n'])
  assert.match((await run(['get', '1'])).stdout, /\tnew\t/)
})

test('a table with semicolons or tabs is imported', async (t) => {
  const run = commandsOn(t, await startApp(t))
  const words = ['import', '-', '--format', 'csv']
  const { stdout, stderr } = await run(words, {
    input: '\ufeffid;name;tag\n1;Rosa, wild;\n2;"a;b";c\n2;d;\n',
  })
  assert.equal(stdout, '2 created, 1 failed.\n')
  assert.match(stderr, /^line 4, id 2: /)
  assert.equal((await run(['get', '1', '--json'])).stdout.match(/"name":"[^"]*"/)?.[0], '"name":"Rosa, wild"')
  const endless = await run([...words, '--dry-run'], { input: 'id\tname\n3\ta\n4\t"b\n' })
  assert.equal(endless.code, 1)
  assert.match(endless.stderr, /The row that begins on line 3 has no end\. Look for a quotation mark/)
  const forced = await run([...words, '--delimiter', 'comma'], { input: 'id;name\n5;a\n' })
  assert.match(forced.stderr, /separated by semicolons/)
  const misplaced = await run(['import', '-', '--format', 'ndjson', '--delimiter', 'tab'])
  assert.deepEqual([misplaced.code, misplaced.stderr], [2, 'plantstore: --delimiter is for CSV only.\n'])
})

test('an import that fails reports its progress', async (t) => {
  const run = commandsOn(t, await startApp(t))
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, 'broken.csv'), 'id,name\n1,a\nII,b\n3,"never closed\n')
  const { code, stdout, stderr } = await run(['import', 'broken.csv', '--errors', 'failed.csv'], { folder })
  assert.deepEqual([code, stdout], [1, ''])
  assert.match(
    stderr,
    /plantstore: line 4: [^\n]*\(code 40002\) The rows before line 4 are complete: 1 created[^\n]*\n$/,
  )
  assert.equal(readFileSync(join(folder, 'failed.csv'), 'utf8'), 'id,name\nII,b\n')
  writeFileSync(join(folder, 'no-name.csv'), 'id,title\n1,a\n')
  const header = await run(['import', 'no-name.csv'], { folder })
  assert.match(header.stderr, /^plantstore: line 1: The header row is wrong: [^\n]*\n$/)
  writeFileSync(join(folder, 'cut.csv.gz'), gzipSync('id,name\n5,a\n').subarray(0, 20))
  assert.match((await run(['import', 'cut.csv.gz'], { folder })).stderr, /^plantstore: [^\n]*gzip[^\n]*\n$/)
  writeFileSync(join(folder, 'none.ndjson'), '')
  for (const [file, what] of [
    ['-', 'Standard input'],
    ['none.ndjson', 'none.ndjson'],
  ] as const) {
    const nothing = await run(['import', file, '--format', 'ndjson'], { folder })
    assert.deepEqual(
      [nothing.code, nothing.stderr],
      [1, `plantstore: ${what} is empty: no row was imported.\n`],
    )
  }
})

test('a file that cannot be read or written is reported in one line', async (t) => {
  const run = commandsOn(t, await startApp(t))
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, 'in.csv'), 'id,name\nx,y\n')
  const cases: [string[], number, RegExp][] = [
    [['absent.csv'], 1, /^plantstore: Cannot read absent\.csv: no such file or folder\.\n$/],
    [['.', '--format', 'csv'], 1, /^plantstore: Cannot read \.: it is a folder\.\n$/],
    [['in.csv', '--errors', 'in.csv'], 2, /^plantstore: --errors names the imported file[^\n]*\n$/],
    [
      ['in.csv', '--errors', 'no/such/folder.csv'],
      1,
      /^plantstore: Cannot write no\/such\/folder\.csv: [^\n]*\n$/,
    ],
  ]
  for (const [words, code, message] of cases) {
    const ended = await run(['import', ...words], { folder })
    assert.deepEqual([ended.code, ended.stdout], [code, ''], words.join(' '))
    assert.match(ended.stderr, message)
  }
  assert.equal(readFileSync(join(folder, 'in.csv'), 'utf8'), 'id,name\nx,y\n')
})
