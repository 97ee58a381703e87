import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { pino } from 'pino'
import { readConfig } from '../src/config/read-config.ts'
import { SettingError, SetupError } from '../src/errors.ts'
import { serve } from '../src/serve.ts'
import { generateToken } from '../src/tokens/token.ts'
import { eventually } from './support/eventually.ts'
import { assertErrorResponse } from './support/http/error-body.ts'
import { startApp, temporaryFolder } from './support/http/start-app.ts'
import { openWire, requestText, type Wire, type WireResponse } from './support/http/wire.ts'
import { type PlantstoreProcess, startServe } from './support/process/plantstore-process.ts'

const silent = pino({ level: 'silent' })

const createText = (id: number) => requestText('POST /plants', {}, `{"id":${id},"name":"a"}`)

/** Begins to create a plant and returns the body to send; the service has read everything before it. */
async function beginCreate(wire: Wire, id: number): Promise<string> {
  const body = `{"id":${id},"name":"a"}`
  const length = String(body.length)
  const headers = { 'Content-Type': 'application/json', 'Content-Length': length, Expect: '100-continue' }
  wire.send(requestText('POST /plants', headers))
  assert.equal((await wire.response()).status, 100)
  return body
}

const isStopping = ({ stderr }: PlantstoreProcess) => stderr.includes('"stopping"')

test('SIGTERM: running requests complete, new connections are rejected, and the process exits with 0', async (test) => {
  const service = await startServe(test)
  const [idle, half, sent] = await Promise.all([1, 2, 3].map(() => openWire(test, service.port)))
  assert.ok(idle && half && sent)
  idle.send(requestText('GET /readyz'))
  assert.equal((await idle.response()).status, 200)
  const rest = await beginCreate(half, 1)
  sent.send(...[10, 11, 12, 13, 14].map(createText))
  // After the first response it is certain that the service has read the others.
  assert.equal((await sent.response()).status, 200)
  service.child.kill('SIGTERM')
  await idle.assertClosed()
  let created = 1
  // After a response with Connection: close, later requests were not executed (RFC 9112 §9.6).
  for (let isLast = false; created < 5 && !isLast; created++) {
    const response: WireResponse = await sent.response()
    assert.equal(response.status, 200)
    isLast = response.headers.connection === 'close'
  }
  await sent.assertClosed()
  await assert.rejects(openWire(test, service.port), { code: 'ECONNREFUSED' })

  half.send(rest, requestText('GET /readyz'))
  assert.equal((await half.response()).status, 200)
  await assertErrorResponse(await half.response(), 503, 50303)
  await half.assertClosed()
  assert.equal(await service.exit, 0)

  const again = await startApp(test, { PLANTSTORE_DATABASE: join(service.folder, 'data/plantstore.db') })
  const plants = (await (await again.fetch('/plants')).json()) as { id: number }[]
  assert.deepEqual(
    plants.map(({ id }) => id),
    [1, 10, 11, 12, 13, 14].slice(0, 1 + created),
  )
})

test('a kept-alive connection does not delay the end after its last response', async (test) => {
  const service = await startServe(test)
  const wire = await openWire(test, service.port)
  const rest = await beginCreate(wire, 1)
  service.child.kill('SIGINT')
  await eventually(() => isStopping(service))
  wire.send(rest)
  assert.equal((await wire.response()).status, 200)
  const respondedMs = performance.now()
  assert.equal(await service.exit, 0)
  assert.ok(performance.now() - respondedMs < 8_000, 'it ends then, not at the time limit')
  await wire.assertClosed()
})

test('a long response that is being sent during a stop arrives whole', async (test) => {
  const app = await startApp(test)
  // A page of the maximum size: more than the buffers between two sockets hold.
  const name = '\u6f22'.repeat(340_000)
  for (let id = 0; id < 12; id++) await app.send('POST', '/plants', `{"id":${id},"name":"${name}"}`)
  const socket = connect({ port: app.port, host: '127.0.0.1' })
  await once(socket, 'connect')
  socket.write(requestText('GET /plants'))
  await once(socket, 'readable')
  const stopped = app.stop()
  // The reader starts late.
  await new Promise((resolve) => setTimeout(resolve, 200))
  let text = ''
  for await (const chunk of socket.setEncoding('latin1')) text += chunk
  await stopped
  const length = Number(/^content-length: (\d+)/im.exec(text)?.[1])
  assert.ok(length > 10 * 1024 * 1024)
  assert.equal(text.length - text.indexOf('\r\n\r\n') - 4, length)
})

test('a client that does not finish its request is dropped at the configured time', async (test) => {
  const service = await startServe(test, { environment: { PLANTSTORE_SHUTDOWN_TIMEOUT_MS: '300' } })
  const wire = await openWire(test, service.port)
  await beginCreate(wire, 1)
  const askedMs = performance.now()
  service.child.kill('SIGTERM')
  assert.equal(await service.exit, 0)
  const tookMs = performance.now() - askedMs
  assert.ok(tookMs > 250 && tookMs < 8_000, `${tookMs} ms`)
  await wire.assertClosed()
})

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`a second signal ends the process at once: ${signal} after SIGTERM`, async (test) => {
    const service = await startServe(test)
    const wire = await openWire(test, service.port)
    await beginCreate(wire, 1)
    service.child.kill('SIGTERM')
    await eventually(() => isStopping(service))
    assert.equal(service.child.exitCode, null)
    service.child.kill(signal)
    assert.equal(await service.exit, 130)
  })
}

test('a stopped service leaves one file behind, with everything in it', async (test) => {
  const app = await startApp(test)
  await app.send('POST', '/plants', '{"id":1,"name":"a"}')
  await app.stop()
  assert.ok(existsSync(app.database))
  assert.ok(!existsSync(`${app.database}-wal`))
  const again = await startApp(test, { PLANTSTORE_DATABASE: app.database })
  assert.equal((await again.fetch('/plants/1')).status, 200)
})

test('the path of the base URL prefixes every route and every link in a response', async (test) => {
  const app = await startApp(test, { PLANTSTORE_BASE_URL: 'https://plants.example/api/v1/' })
  assert.equal(new URL(app.url).pathname, '/api/v1')
  const created = await app.send('POST', '/plants', '{"id":1,"name":"a"}')
  assert.equal(created.headers.get('location'), '/api/v1/plants/1')
  const put = await app.send('PUT', '/plants/2', '{"name":"a"}')
  assert.equal(put.headers.get('location'), '/api/v1/plants/2')
  const list = await app.fetch('/plants?limit=1')
  assert.equal(list.headers.get('link'), '<https://plants.example/api/v1/plants?limit=1&after=1>; rel="next"')
  const document = (await (await app.fetch('/openapi.json')).json()) as {
    servers: { url: string }[]
    paths: Record<string, unknown>
  }
  assert.deepEqual(document.servers, [{ url: 'https://plants.example/api/v1' }])
  assert.ok('/plants' in document.paths)
  for (const path of ['', '/', '/docs', '/healthz', '/readyz', '/openapi.yaml']) {
    assert.equal((await app.fetch(path, { headers: { authorization: '' } })).status, 200, path)
  }
  assert.match(await (await app.fetch('/')).text(), /href="\/api\/v1\/docs"/)
  const rejected = await app.fetch('/plants', { method: 'DELETE' })
  assert.equal(rejected.headers.get('allow'), 'GET, HEAD, OPTIONS, POST')
  await assertErrorResponse(rejected, 405, 40501)

  const wire = await openWire(test, app.port)
  for (const path of ['/plants', '/healthz', '/', '/api/v1plants', '/api', '/api/v1/api/v1/plants']) {
    wire.send(requestText(`GET ${path}`))
    await assertErrorResponse(await wire.response(), 404, 40401)
  }
})

test('a first token is created only for a store without one, unless there is a fixed token', async (test) => {
  const database = join(temporaryFolder(test), 'plants.db')
  const configWith = (settings: Record<string, string>) =>
    readConfig({}, { PLANTSTORE_PORT: '0', PLANTSTORE_DATABASE: database, ...settings })
  const tokens: (string | undefined)[] = []
  // The second variable is the credential of the command line, perhaps set in the same shell.
  for (const variable of ['PLANTSTORE_FIXED_TOKEN', 'PLANTSTORE_TOKEN']) {
    const settings = { [variable]: 'configured-token-0' }
    const service = await serve(configWith(settings), silent)
    tokens.push(service.firstToken)
    await service.stop()
  }
  assert.equal(tokens[0], undefined)
  assert.match(tokens[1] ?? '', /^plst_/)
})

test('a token that a store created cannot be the fixed token: it would have every scope, even when revoked', async (test) => {
  const database = join(temporaryFolder(test), 'plants.db')
  const environment = { PLANTSTORE_PORT: '0', PLANTSTORE_DATABASE: database }
  const config = readConfig({}, { ...environment, PLANTSTORE_FIXED_TOKEN: generateToken() })
  await assert.rejects(serve(config, silent), (error) => {
    assert.ok(error instanceof SettingError, String(error))
    assert.match(error.message, /^PLANTSTORE_FIXED_TOKEN [^\n]+ Choose another secret\. [^\n]+\.$/)
    return true
  })
  assert.ok(!existsSync(database))
})

test('a failed start creates no first token, so the next start prints it', async (test) => {
  const app = await startApp(test)
  const database = join(temporaryFolder(test), 'plants.db')
  const configWith = (port: string) =>
    readConfig({}, { PLANTSTORE_PORT: port, PLANTSTORE_DATABASE: database })
  await assert.rejects(serve(configWith(String(app.port)), silent), /is in use/)
  const service = await serve(configWith('0'), silent)
  assert.match(service.firstToken ?? '', /^plst_/)
  await service.stop()
})

test('a start that cannot listen throws a SetupError and closes the storage', async (test) => {
  const app = await startApp(test)
  const folder = temporaryFolder(test)
  const cases: [Record<string, string>, RegExp][] = [
    [
      { PLANTSTORE_PORT: String(app.port) },
      new RegExp(`^Port ${app.port} on 127\\.0\\.0\\.1 is in use. Choose .*--port`),
    ],
    [
      { PLANTSTORE_PORT: '0', PLANTSTORE_HOST: '192.0.2.1' },
      /^192\.0\.2\.1 is not an address of this machine/,
    ],
  ]
  for (const [settings, message] of cases) {
    const config = readConfig({}, { PLANTSTORE_DATABASE: join(folder, 'plants.db'), ...settings })
    await assert.rejects(serve(config, silent), (error) => {
      assert.ok(error instanceof SetupError, String(error))
      assert.match(error.message, message)
      return true
    })
    assert.ok(!existsSync(join(folder, 'plants.db-wal')), 'the storage is still open')
  }
})

test('a damaged search index is logged, as no write fails because of it', async (test) => {
  const database = join(temporaryFolder(test), 'plants.db')
  const app = await startApp(test, { PLANTSTORE_DATABASE: database })
  {
    using other = new DatabaseSync(database)
    other.exec('DROP TABLE plant_words')
  }
  assert.equal((await app.send('POST', '/plants', '{"id":1,"name":"Rosa"}')).status, 200)
  const line = await eventually(() => app.log.find(({ trouble }) => trouble !== undefined))
  assert.equal(line.level, 50)
  assert.match(String(line.trouble), /^Names cannot be indexed for search: [^\n]*plant_words\.$/)
})
