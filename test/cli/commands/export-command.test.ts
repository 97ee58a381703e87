import assert from 'node:assert/strict'
import { lstatSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { type StartedApp, startApp, temporaryFolder } from '../../support/http/start-app.ts'
import { commandsOn } from '../run-command.ts'
import { startOtherServer } from '../start-other-server.ts'

async function addPlants(app: StartedApp): Promise<void> {
  await app.send('POST', '/plants', '{"id":9007199254740993,"name":"Quercus, \\"robur\\"","tag":"tree"}')
  await app.send('POST', '/plants', '{"id":-1,"name":"two\\nlines"}')
}

const NDJSON =
  /^\{"id":-1,"name":"two\\nlines","createdAt":"[^"]+","updatedAt":"[^"]+"\}\n\{"id":9007199254740993,"name":"Quercus, \\"robur\\"","tag":"tree",[^\n]+\}\n$/
const CSV =
  /^id,name,tag,createdAt,updatedAt\r\n-1,"two\nlines",,[^\r]+\r\n9007199254740993,"Quercus, ""robur""",tree,[^\r]+\r\n$/

test('an export goes to standard output as NDJSON or CSV, and nothing else does', async (t) => {
  const app = await startApp(t)
  await addPlants(app)
  const run = commandsOn(t, app)
  const ndjson = await run(['export'])
  assert.deepEqual([ndjson.code, ndjson.stderr], [0, ''])
  assert.match(ndjson.stdout, NDJSON)
  assert.match((await run(['export', '--format', 'csv'])).stdout, CSV)
  const folder = temporaryFolder(t)
  assert.match((await run(['export', '-', '--format', 'csv'], { folder })).stdout, CSV)
  assert.match((await run(['export', '-'], { folder })).stdout, NDJSON)
  assert.deepEqual(readdirSync(folder), [])
  assert.match((await run(['export', '--format', 'csv', '--bom'])).stdout, /^\ufeffid,name/)
})

test('only matching plants are exported', async (t) => {
  const app = await startApp(t)
  await addPlants(app)
  const run = commandsOn(t, app)
  const ids = async (...words: string[]) =>
    [...(await run(['export', ...words])).stdout.matchAll(/"id":(-?\d+)/g)].map(([, id]) => id)
  assert.deepEqual(await ids('--tag', 'tree'), ['9007199254740993'])
  assert.deepEqual(await ids('--search', 'lin two'), ['-1'])
  assert.deepEqual(await ids('--after', '-1'), ['9007199254740993'])
})

test('the ending of its name decides the format and compression of a file', async (t) => {
  const app = await startApp(t)
  await addPlants(app)
  const run = commandsOn(t, app)
  const folder = temporaryFolder(t)
  const written = async (name: string, ...flags: string[]) => {
    const { code, stdout, stderr } = await run(['export', name, ...flags], { folder })
    assert.deepEqual([code, stdout, stderr], [0, '', `2 plants in ${name}.\n`])
    return readFileSync(join(folder, name))
  }
  assert.match(String(await written('a.csv')), CSV)
  assert.match(String(await written('b.ndjson')), NDJSON)
  assert.match(String(gunzipSync(await written('c.csv.gz'))), CSV)
  assert.match(String(gunzipSync(await written('d.gz', '--format', 'ndjson'))), NDJSON)
  assert.match(String(await written('a.csv', '--format', 'ndjson')), NDJSON, 'an older file is replaced')
  symlinkSync('a.csv', join(folder, 'link.csv'))
  assert.match(String(await written('link.csv')), CSV)
  assert.ok(lstatSync(join(folder, 'link.csv')).isSymbolicLink(), 'a link stays one')
  assert.match(String(readFileSync(join(folder, 'a.csv'))), CSV)
  assert.deepEqual(readdirSync(folder).sort(), ['a.csv', 'b.ndjson', 'c.csv.gz', 'd.gz', 'link.csv'])
  await run(['export', '/dev/null', '--format', 'csv'])
  assert.ok(statSync('/dev/null').isCharacterDevice(), 'a device stays one')
})

test('an interrupted export leaves the file unchanged, reports it and exits with 1', async (t) => {
  // The real service cannot be made to interrupt an export.
  const other = await startOtherServer(t, (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' })
    response.write('{"id":1,"name":"a","createdAt":"x","updatedAt":"x"}\n{"id":2')
    setImmediate(() => response.destroy())
  })
  const run = commandsOn(t, other)
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, 'plants.ndjson'), 'what was there')
  const toFile = await run(['export', 'plants.ndjson'], { folder })
  assert.deepEqual([toFile.code, toFile.stdout], [1, ''])
  assert.match(toFile.stderr, /^plantstore: [^\n]+ Received 1 plant\. plants\.ndjson is unchanged\.\n$/)
  assert.equal(readFileSync(join(folder, 'plants.ndjson'), 'utf8'), 'what was there')
  assert.deepEqual(readdirSync(folder), ['plants.ndjson'])
  const piped = await run(['export'])
  assert.equal(piped.code, 1)
  assert.match(piped.stderr, /The output is incomplete\.\n$/)
})

test('a file that cannot be written is reported in one line', async (t) => {
  const run = commandsOn(t, await startApp(t))
  const { code, stderr } = await run(['export', 'no/such/folder.csv'], { folder: temporaryFolder(t) })
  assert.deepEqual(
    [code, stderr],
    [1, 'plantstore: Cannot write no/such/folder.csv: no such file or folder.\n'],
  )
})
