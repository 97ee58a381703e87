import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createWriteStream, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startApp, temporaryFolder } from '../support/http/start-app.ts'
import { commandsOn } from './run-command.ts'
import { startOtherServer } from './start-other-server.ts'
import { inTerminal, NO_TERMINAL } from './terminal.ts'

test('on a terminal, list is a table under a bold header, as wide as the terminal', {
  skip: NO_TERMINAL,
}, async (t) => {
  const app = await startApp(t)
  await app.send('POST', '/plants', `{"id":9007199254740993,"name":"${'植物 '.repeat(40)}","tag":"tree"}`)
  await app.send('POST', '/plants', '{"id":-1,"name":"Acer"}')
  const terminal = inTerminal(t, app.url, ['list'], { columns: 60 })
  assert.equal(await terminal.exit, 0)
  const [header, first, second] = terminal.text.trimEnd().split('\n')
  assert.match(header ?? '', /^ {14}ID {2}NAME +TAG {3}UPDATED$/)
  assert.match(first ?? '', /^ {14}-1 {2}Acer {10,} \d{4}-\d\d-\d\dT\d\d:\d\dZ$/)
  assert.match(second ?? '', /^9007199254740993 {2}植物 植物[植物 ]*… *tree {2}\d{4}-\d\d-\d\dT\d\d:\d\dZ$/)
  assert.ok(terminal.raw.startsWith('\u001b[1m'))
  const plain = inTerminal(t, app.url, ['tags'], { environment: { NO_COLOR: '1' } })
  assert.equal(await plain.exit, 0)
  assert.equal(plain.raw, 'TAG   COUNT\r\ntree      1\r\n', 'no colours where they are not wanted')
})

test('on a terminal get prints a member per line, and list reports if no plants match', {
  skip: NO_TERMINAL,
}, async (t) => {
  const app = await startApp(t)
  await app.send('POST', '/plants', '{"id":7,"name":"Acer","tag":"tree"}')
  const shown = inTerminal(t, app.url, ['get', '7'])
  assert.equal(await shown.exit, 0)
  assert.match(
    shown.text,
    /^id {7}7\nname {5}Acer\ntag {6}tree\ncreated {2}\S+Z\nupdated {2}\S+Z\netag {5}"\d+"\n$/,
  )
  const none = inTerminal(t, app.url, ['list', '--tag', 'none'])
  await none.exit
  assert.equal(none.text, 'No plants match.\n')
})

test('no name controls a terminal, in any output format', { skip: NO_TERMINAL }, async (t) => {
  const app = await startApp(t)
  const name = 'a\u001b[31mred\u001b]0;title\u0007\u009b2J\u202eb\u007f'
  await app.send('POST', '/plants', JSON.stringify({ id: 1, name, tag: name }))
  const ways = [
    ['list'],
    ['list', '--json'],
    ['list', '--csv'],
    ['search', '31mred'],
    ['get', '1'],
    ['get', '1', '--json'],
    ['tags'],
    ['tags', '--csv'],
    ['export'],
    ['export', '--format', 'csv'],
    ['update', '1', '--name', name],
    ['create', '2', name],
  ]
  for (const words of ways) {
    const terminal = inTerminal(t, app.url, words, { environment: { NO_COLOR: '1' }, columns: 300 })
    assert.equal(await terminal.exit, 0, words.join(' '))
    assert.ok(terminal.raw.includes('a\\u001b[31mred'), terminal.raw)
    assert.doesNotMatch(terminal.raw.replace(/[\r\n]/g, ''), /[\p{Cc}\u202e]/u, words.join(' '))
  }
})

test('an import shows how far it is, and the bar is gone when it is over', {
  skip: NO_TERMINAL,
}, async (t) => {
  const app = await startApp(t)
  const folder = temporaryFolder(t)
  const rows = Array.from({ length: 60_000 }, (_, at) => `{"id":${at},"name":"Plant number ${at}"}\n`)
  writeFileSync(join(folder, 'plants.ndjson'), `no json\n${rows.join('')}`)
  const terminal = inTerminal(t, app.url, ['import', 'plants.ndjson'], { folder, columns: 120 })
  assert.equal(await terminal.exit, 1)
  assert.match(
    terminal.text,
    /importing {2}\[=*-*\] {2}\d+ % {2}[\d.]+ \w?B of 2\.\d MB {2}[\d,]+ rows\/s {2}\d errors?/,
  )
  assert.match(terminal.text, / {2}1 error {2}\d+:\d\d left/)
  assert.ok(
    terminal.text.endsWith('\nline 1: The line is not JSON. (code 40002)\n60,000 created, 1 failed.\n'),
  )
})

test('rows may be typed: no progress bar overwrites them', { skip: NO_TERMINAL }, async (t) => {
  const app = await startApp(t)
  const terminal = inTerminal(t, app.url, ['import', '-', '--format', 'csv'])
  await terminal.shows(/^Type the rows, then press Ctrl-D on an empty line\.\n$/)
  terminal.type('id,name\n1,Rosa canina\n\u0004')
  assert.equal(await terminal.exit, 0)
  assert.equal(terminal.text, 'Type the rows, then press Ctrl-D on an empty line.\n1 created.\n')
})

test('piped, an import draws no bar', async (t) => {
  const run = commandsOn(t, await startApp(t))
  const input = Array.from({ length: 20_000 }, (_, at) => `{"id":${at},"name":"x"}\n`).join('')
  const { stderr } = await run(['import', '-', '--format', 'ndjson'], { input })
  assert.equal(stderr, '')
})

test('Ctrl-C ends an import with 130, its progress and the failed rows so far', {
  skip: NO_TERMINAL,
}, async (t) => {
  const app = await startApp(t)
  const folder = temporaryFolder(t)
  // A slow source.
  execFileSync('mkfifo', [join(folder, 'plants.ndjson')])
  const words = ['import', 'plants.ndjson', '--errors', 'failed.ndjson']
  const terminal = inTerminal(t, app.url, words, { folder, columns: 120 })
  const writer = createWriteStream(join(folder, 'plants.ndjson'))
  t.after(() => void writer.destroy())
  writer.on('error', () => undefined)
  writer.write(`no json\n${Array.from({ length: 5_000 }, (_, at) => `{"id":${at},"name":"x"}\n`).join('')}`)
  await terminal.shows(/importing {2}[\d.]+ kB {2}[1-9][\d,]* rows\/s {2}1 error/)
  terminal.type('\u0003')
  assert.equal(await terminal.exit, 130)
  assert.match(
    terminal.text,
    /plantstore: Interrupted\. The rows before line [\d,]+ are complete: [\d,]+ created, 1 failed\. [^\n]* --on-conflict skip to continue\.\n$/,
  )
  assert.equal(readFileSync(join(folder, 'failed.ndjson'), 'utf8'), 'no json\n')
  assert.deepEqual(readdirSync(folder).sort(), ['failed.ndjson', 'plants.ndjson'])
  const [, done = ''] = /are complete: ([\d,]+) created/.exec(terminal.text) ?? []
  const { stdout } = await commandsOn(t, app)(['export'])
  assert.ok(stdout.split('\n').length - 1 >= Number(done.replace(',', '')), 'what it said is stored')
})

test('Ctrl-C ends a copy with 130, and another run finishes it', { skip: NO_TERMINAL }, async (t) => {
  const app = await startApp(t)
  const rows = Array.from({ length: 150_000 }, (_, at) => `{"id":${at},"name":"x"}\n`).join('')
  await app.fetch('/plants/import', {
    method: 'POST',
    body: rows,
    headers: { 'content-type': 'application/x-ndjson' },
  })
  await app.stop()
  const folder = temporaryFolder(t)
  const words = ['copy', '--from', app.database, '--to', join(folder, 'copy.db')]
  const terminal = inTerminal(t, app.url, words)
  await terminal.shows(/copying {2}[1-9][\d,]* plants copied {2}[\d,]+ rows\/s/)
  terminal.type('\u0003')
  assert.equal(await terminal.exit, 130)
  assert.match(
    terminal.text,
    /plantstore: Interrupted\. [\d,]+ plants \w+: run it again to finish the copy\.\n$/,
  )
  const { code, stdout } = await commandsOn(t, app)(words)
  assert.deepEqual([code, stdout.slice(0, 13)], [0, '150,000 plant'])
})

test('Ctrl-C ends an export with 130 and leaves no partial file', { skip: NO_TERMINAL }, async (t) => {
  const { url } = await startOtherServer(t, (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/csv' })
    response.write('id,name,tag,createdAt,updatedAt\r\n1,"a\nb",,x,x\r\n2,c,,x,x\r\n')
  })
  const folder = temporaryFolder(t)
  const terminal = inTerminal(t, url, ['export', 'plants.csv'], { folder })
  await terminal.shows(/exporting {2}\d+ B {2}[1-9]\d* rows\/s/)
  assert.equal(readdirSync(folder).length, 1)
  terminal.type('\u0003')
  assert.equal(await terminal.exit, 130)
  assert.match(
    terminal.text,
    /\nplantstore: Interrupted\. Received 2 plants\. plants\.csv was not created\.\n$/,
  )
  assert.deepEqual(readdirSync(folder), [])
  assert.ok(!existsSync(join(folder, 'plants.csv')))
})

test('Ctrl-C ends a command that waits for a response, and reports it in one line', {
  skip: NO_TERMINAL,
}, async (t) => {
  const asked = Promise.withResolvers<void>()
  const { url } = await startOtherServer(t, () => asked.resolve())
  const terminal = inTerminal(t, url, ['delete', '1', '2'])
  await asked.promise
  terminal.type('\u0003')
  assert.equal(await terminal.exit, 130)
  assert.equal(
    terminal.text,
    'plantstore: Interrupted. It may have been applied all the same. 0 of 2 were deleted.\n',
  )
})
