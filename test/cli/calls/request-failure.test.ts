import assert from 'node:assert/strict'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeCertificate } from '../../support/certificates.ts'
import { startApp, TOKEN, temporaryFolder } from '../../support/http/start-app.ts'
import { startPlantstore } from '../../support/process/plantstore-process.ts'
import { commandsOn } from '../run-command.ts'
import { startOtherServer } from '../start-other-server.ts'

const WRITES = [
  ['create', '1', 'x'],
  ['update', '1', '--tag', 'x'],
  ['delete', '1'],
]

test('a write whose response is lost is reported as possibly applied', async (t) => {
  const lost = await startOtherServer(t, (request) => void request.socket.destroy())
  const broken = await startOtherServer(t, (_request, response) => {
    response.writeHead(500, { 'content-type': 'application/json' })
    response.end('{"error":50001,"message":"Something failed."}')
  })
  const busy = await startOtherServer(t, (_request, response) => {
    response.writeHead(503, { 'content-type': 'application/json' })
    response.end('{"error":50303,"message":"The service is shutting down."}')
  })
  for (const words of WRITES) {
    for (const other of [lost, broken]) {
      const { code, stderr } = await commandsOn(t, other)(words)
      assert.equal(code, 1)
      assert.match(
        stderr,
        /^plantstore: [^\n]+[.)] It may have been applied all the same\.\n$/,
        words.join(' '),
      )
    }
    assert.doesNotMatch((await commandsOn(t, busy)(words)).stderr, /may have been applied/)
  }
  assert.doesNotMatch((await commandsOn(t, lost)(['get', '1'])).stderr, /may have been applied/)
})

test('an interrupted write is reported as possibly applied; a read is not', async (t) => {
  let asked = Promise.withResolvers<void>()
  const { url } = await startOtherServer(t, () => asked.resolve())
  for (const words of [...WRITES, ['get', '1']]) {
    asked = Promise.withResolvers()
    const environment = { PLANTSTORE_URL: url, PLANTSTORE_TOKEN: TOKEN }
    const run = startPlantstore(t, words, { environment })
    await asked.promise
    run.child.kill('SIGINT')
    assert.equal(await run.exit, 130)
    const maybe = words[0] === 'get' ? '' : ' It may have been applied all the same.'
    assert.equal(run.stderr, `plantstore: Interrupted.${maybe}\n`, words.join(' '))
  }
})

test('a write without a connection was not applied, unless an earlier try was sent', async (t) => {
  const dying = await startOtherServer(t, (request) => {
    dying.server.close()
    request.socket.destroy()
  })
  const run = commandsOn(t, dying)
  assert.match(
    (await run(['create', '1', 'x'])).stderr,
    /: Cannot connect [^\n]+ It may have been applied [^\n]+\n$/,
  )
  assert.match((await run(['create', '1', 'x'])).stderr, /: Cannot connect [^\n]+ or PLANTSTORE_URL\.\n$/)
})

test('an https URL of a plain HTTP server suggests http', async (t) => {
  const app = await startApp(t)
  const url = app.url.replace('http:', 'https:')
  const input = 'id,name\n1,x\n'
  for (const words of [['list'], ['create', '1', 'x'], ['import', '-', '--format', 'csv']]) {
    const { code, stderr } = await commandsOn(t, { url })(words, { input })
    const message = `plantstore: The server at ${url} does not speak HTTPS. Try ${app.url}\n`
    assert.deepEqual([code, stderr], [1, message])
  }
})

test('an http URL of an HTTPS server suggests https', async (t) => {
  const { url } = await startApp(t, makeCertificate(t).settings)
  const { code, stderr } = await commandsOn(t, { url: url.replace('https:', 'http:') })(['list'])
  assert.equal(code, 1)
  assert.match(stderr, /^plantstore: The server at http:\S+ closes the connection [^\n]+ try https:\S+\n$/)
})

test('a URL without the base path of the service is reported', async (t) => {
  const app = await startApp(t, { PLANTSTORE_BASE_URL: 'https://example.org/garden' })
  const url = app.url.replace(/\/garden$/, '')
  const { code, stderr } = await commandsOn(t, { url })(['list'])
  assert.deepEqual(
    [code, stderr],
    [
      1,
      `plantstore: There is no such path. The API reference at /garden/docs lists the paths. (code 40401) Check the URL ${url}: it must include the base path of the service.\n`,
    ],
  )
})

test('the page of a gateway is reported as such', async (t) => {
  const gateway = await startOtherServer(t, (_request, response) => {
    response.writeHead(503, { 'content-type': 'text/html' })
    response.end('<h1>503 Service Temporarily Unavailable</h1>')
  })
  const { code, stderr } = await commandsOn(t, gateway)(['list'])
  assert.equal(code, 1)
  assert.match(stderr, /: 503 [\w ]+\. A gateway sent this response: check that the service is running\.\n$/)
})

test('the hints after a failure are whole sentences, and right about the file', async (t) => {
  const lost = await startOtherServer(t, (request) => void request.socket.destroy())
  const run = commandsOn(t, lost)
  const folder = temporaryFolder(t)
  const imported = await run(['import', '-', '--format', 'csv'], { input: 'id,name\n1,x\n' })
  assert.match(imported.stderr, /\w\. Some rows may have been stored\. [^\n]+\n$/)
  assert.match((await run(['delete', '1', '2'])).stderr, /\w\. It may have [\w ]+\. 0 of 2 were deleted\.\n$/)
  assert.match((await run(['export', 'x.csv'], { folder })).stderr, /\w\. x\.csv was not created\.\n$/)
  assert.deepEqual(readdirSync(folder), [])
  writeFileSync(join(folder, 'x.csv'), '')
  assert.match((await run(['export', 'x.csv'], { folder })).stderr, /\w\. x\.csv is unchanged\.\n$/)
  const app = await startApp(t)
  await app.send('POST', '/plants', '{"id":1,"name":"a"}')
  const full = await commandsOn(t, app)(['export', '/dev/full', '--format', 'csv'])
  assert.match(full.stderr, /no space left\. Received 1 plant\. The output is incomplete\.\n$/)
})

test('a failure names the flag that helps', async (t) => {
  const run = commandsOn(t, await startApp(t))
  const imported = (input: string | Buffer) => run(['import', '-', '--format', 'csv'], { input })
  const header = await imported('id,title\n1,a\n')
  assert.match(header.stderr, / See --columns\. Nothing was stored\.\n$/)
  const numbered = await imported('name\na\n')
  assert.match(numbered.stderr, / See --columns and --id-start\. Nothing was stored\.\n$/)
  const windows = await imported(Buffer.from('id,name\n1,th\xe9\n', 'latin1'))
  assert.match(windows.stderr, /^line 2[^\n]* windows-1252\. \(code 40002\) See --encoding\.\n/)
  const wide = await imported(Buffer.from('\ufeffid,name\r\n1,a\r\n', 'utf16le'))
  assert.match(wide.stderr, / utf-16le\. \(code 40002\) See --encoding\. /)
  for (const { stderr } of [header, numbered, windows, wide]) assert.doesNotMatch(stderr, /in the query/)
})
