import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { connect, createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import fastify from 'fastify'
import { listen } from '../../../src/http/server/listen.ts'
import { eventually } from '../../support/eventually.ts'
import { type Lifetime, startApp, TOKEN, temporaryFolder } from '../../support/http/start-app.ts'
import { keepTrying } from '../../support/keep-trying.ts'
import { START_PATIENCE_MS, startPlantstore } from '../../support/process/plantstore-process.ts'

const run = promisify(execFile)

/** Starts the service on that socket in a process of its own, and waits until it says so. */
async function serveOn(test: Lifetime, socket: string) {
  const environment = { PLANTSTORE_SOCKET: socket, PLANTSTORE_DATABASE: `${socket}.db` }
  const service = startPlantstore(test, ['serve'], { environment })
  await eventually(() => {
    if (service.child.exitCode !== null) throw new Error(service.stderr)
    return service.stderr.includes('"serving"')
  }, START_PATIENCE_MS)
  return service
}

/** The places that a process listens on by TCP: the machine's table, whose tenth column is the socket's number. */
function portsOf(pid = 0): string[] {
  const folder = `/proc/${pid}/fd`
  const sockets = readdirSync(folder).flatMap(
    (fd) => /^socket:\[(\d+)\]/.exec(readlinkSync(join(folder, fd)))?.[1] ?? [],
  )
  return ['tcp', 'tcp6']
    .flatMap((kind) => readFileSync(`/proc/${pid}/net/${kind}`, 'utf8').trim().split('\n').slice(1))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state, , , , , , socket = '']) => state === '0A' && sockets.includes(socket))
    .map(([, place = '']) => place)
}

test('the printed command creates a plant over the Unix socket, which only its owner may use and a stop removes', async (test) => {
  const socket = join(temporaryFolder(test), "the gardener's.sock")
  const service = await serveOn(test, socket)
  assert.ok(service.stdout.startsWith(`Plant Store is at the socket ${socket} (try: curl --unix-socket '`))
  const [, line = ''] = /^ {2}(curl .*)$/m.exec(service.stdout) ?? []
  assert.equal((await run('sh', ['-c', line])).stdout, '{"name":"Quercus robur","tag":"tree"}')
  assert.equal(statSync(socket).mode & 0o777, 0o660)
  // A file that it closes meanwhile is skipped.
  await keepTrying(() => assert.deepEqual(portsOf(service.child.pid), [], 'a port is opened beside it'))
  service.child.kill('SIGTERM')
  assert.equal(await service.exit, 0)
  assert.ok(!existsSync(socket))
  assert.deepEqual(
    readdirSync(dirname(socket)).filter((name) => !name.includes('.db')),
    [],
  )
})

test('the socket of a crashed process is replaced; one in use and other files are not', async (test) => {
  const folder = temporaryFolder(test)
  const socket = join(folder, 'plants.sock')
  const crashed = await serveOn(test, socket)
  crashed.child.kill('SIGKILL')
  await crashed.exit
  assert.ok(existsSync(socket))
  await serveOn(test, socket)
  await assert.rejects(startApp(test, { PLANTSTORE_SOCKET: socket }), {
    name: 'SetupError',
    message: /another process already listens/,
  })
  await run('curl', ['-sf', '--unix-socket', socket, 'http://localhost/healthz'])
  const file = join(folder, 'notes.txt')
  writeFileSync(file, 'mine')
  await assert.rejects(startApp(test, { PLANTSTORE_SOCKET: file }), { message: /is not a socket/ })
  assert.equal(readFileSync(file, 'utf8'), 'mine')
})

test('a stop does not remove a file that another process put in place of the socket', async (test) => {
  const socket = join(temporaryFolder(test), 'plants.sock')
  const first = await startApp(test, { PLANTSTORE_SOCKET: socket })
  rmSync(socket)
  const second = await serveOn(test, socket)
  await first.stop()
  await run('curl', ['-sf', '--unix-socket', socket, 'http://localhost/healthz'])
  rmSync(socket)
  writeFileSync(socket, 'mine')
  second.child.kill('SIGTERM')
  assert.equal(await second.exit, 0)
  assert.equal(readFileSync(socket, 'utf8'), 'mine')
})

test('a stop succeeds even if the socket cannot be examined', async (test) => {
  const folder = temporaryFolder(test)
  mkdirSync(join(folder, 'run'))
  const app = await startApp(test, { PLANTSTORE_SOCKET: join(folder, 'run/plants.sock') })
  rmSync(join(folder, 'run'), { recursive: true })
  writeFileSync(join(folder, 'run'), 'a file')
  await app.stop()
})

test('a path that is too long or in a missing folder is reported', async (test) => {
  const folder = temporaryFolder(test)
  await assert.rejects(startApp(test, { PLANTSTORE_SOCKET: join(folder, 'x'.repeat(107)) }), {
    name: 'SetupError',
    message: /^The path of the socket has 1\d\d bytes; the limit is 10\d\. Choose a shorter path\.$/,
  })
  await assert.rejects(startApp(test, { PLANTSTORE_SOCKET: join(folder, 'none/plants.sock') }), {
    message: /folder does not exist\. Create/,
  })
})

test('pipelined requests, malformed bytes and too large a body get the same responses on a socket as on a port', async (test) => {
  const socket = join(temporaryFolder(test), 'plants.sock')
  await startApp(test, { PLANTSTORE_SOCKET: socket })
  const client = connect({ path: socket, allowHalfOpen: true })
  let text = ''
  client.on('data', (chunk) => {
    text += chunk
  })
  const fields = `Host: a\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\n`
  const body = '{"id":1,"name":"a"}'
  client.write(`POST /plants HTTP/1.1\r\n${fields}Content-Length: ${body.length}\r\n\r\n${body}`)
  client.write(`GET /plants/1 HTTP/1.1\r\n${fields}\r\n`)
  client.write(`POST /plants HTTP/1.1\r\n${fields}Content-Length: 9999999\r\nExpect: 100-continue\r\n\r\n`)
  await new Promise((resolve) => client.once('end', resolve))
  client.destroy()
  assert.deepEqual(text.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 400'])
  assert.match(text, /"error":41301/)
})

test('the client of a socket is this machine, and a proxy there is trusted if loopback is', async (test) => {
  for (const [trusted, expected] of [
    ['', '127.0.0.1'],
    ['loopback', '203.0.113.9'],
  ] as const) {
    const socket = join(temporaryFolder(test), 'plants.sock')
    const app = await startApp(test, { PLANTSTORE_SOCKET: socket, PLANTSTORE_TRUSTED_PROXIES: trusted })
    const fields = ['-H', 'Authorization: Bearer wrong-and-long-enough', '-H', 'X-Forwarded-For: 203.0.113.9']
    await run('curl', ['-s', ...fields, '--unix-socket', socket, 'http://localhost/plants'])
    const rejected = await eventually(() => app.log.find(({ event }) => event === 'token.rejected'))
    assert.equal(rejected.clientAddress, expected)
  }
})

test('a host or port that is not available is reported', async (test) => {
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  test.after(() => void taken.close())
  const { port } = taken.address() as { port: number }
  await assert.rejects(startApp(test, { PLANTSTORE_PORT: String(port) }), { message: /is in use/ })
  await assert.rejects(startApp(test, { PLANTSTORE_HOST: '192.0.2.1' }), {
    message: /not an address of this/,
  })
})

test('the service does not listen on a socket that cannot be given to its group', async (test) => {
  const folder = temporaryFolder(test)
  const socket = join(folder, 'plants.sock')
  const app = fastify()
  test.after(() => app.close())
  // Some file systems accept a socket but no change of its mode; a removed one cannot be changed either.
  app.addHook('onListen', async () => {
    for (const name of readdirSync(folder)) rmSync(join(folder, name))
  })
  await assert.rejects(listen(app, { host: '', port: 0, socket, isSecure: false }), {
    name: 'SetupError',
    message: /^Cannot listen on the socket /,
  })
  assert.equal(app.server.listening, false)
})
