import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { Agent, createServer, get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { SETTINGS } from '../../src/config/settings.ts'
import { HEADER_BYTES_MAX } from '../../src/http/server/http-server.ts'
import { eventually } from '../support/eventually.ts'
import { findFreePort } from '../support/free-port.ts'
import { temporaryFolder } from '../support/http/start-app.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const HAPROXY = '/usr/sbin/haproxy'
const skip = existsSync(HAPROXY) ? false : `the load balancer is not tested: there is no ${HAPROXY}`
const loadBalancer = readFileSync(join(ROOT, 'deploy/haproxy.cfg'), 'utf8')

test('HAProxy accepts the configuration without warnings', { skip }, () => {
  const { status, stderr } = spawnSync(HAPROXY, ['-c', '-f', join(ROOT, 'deploy/haproxy.cfg')])
  assert.equal(status, 0, String(stderr))
  assert.doesNotMatch(String(stderr), /WARNING|ALERT/)
})

/** Stands for a replica: it is ready, and handles other requests as set in `does`. */
async function startReplica(t: TestContext) {
  const replica = {
    port: await findFreePort(),
    does: 'response',
    isReady: true,
    methods: [] as string[],
    close() {},
  }
  const server = createServer(async (request, response) => {
    if (request.url === '/readyz') return void response.writeHead(replica.isReady ? 200 : 503).end()
    replica.methods.push(request.method ?? '')
    if (replica.does === 'drop') return void request.socket.destroy()
    if (replica.does === 'reject') return void response.writeHead(503).end('{"error":50303}')
    if (replica.does === 'wait') return
    if (replica.does === 'garbage') return void request.socket.end('garbage\r\n\r\n')
    let bytes = 0
    for await (const chunk of request) bytes += chunk.length
    response.end(JSON.stringify({ from: request.headers['x-forwarded-for'], bytes }))
  })
  replica.close = () => {
    server.close()
    server.closeAllConnections()
  }
  t.after(replica.close)
  await once(server.listen(replica.port, '127.0.0.1'), 'listening')
  return replica
}

/** A connection for each request: on one that was used before, HAProxy closes instead of responding 502. */
const ALONE = { connection: 'close' }

/** The load balancer as it is configured, before two replicas on this machine. */
async function startLoadBalancer(t: TestContext, change = (text: string) => text) {
  const replicas = [await startReplica(t), await startReplica(t)] as const
  const port = await findFreePort()
  const servers = replicas.map((replica) => `server replica-${replica.port} 127.0.0.1:${replica.port}`)
  const file = join(temporaryFolder(t), 'haproxy.cfg')
  const bound = change(loadBalancer).replace(/bind :\d+/, `bind 127.0.0.1:${port}`)
  writeFileSync(file, bound.replace(/server-template .*/, servers.join('\n    ')))
  const process = spawn(HAPROXY, ['-db', '-f', file], { stdio: 'ignore' })
  t.after(() => process.kill('SIGKILL'))
  const send = (method: string, init: { body?: string; headers?: Record<string, string> } = {}) =>
    fetch(`http://127.0.0.1:${port}/plants`, { ...init, method, headers: { ...init.headers, ...ALONE } })
  await eventually(async () => (await send('GET').catch(() => undefined))?.ok)
  const forget = () => {
    for (const { methods } of replicas) methods.length = 0
  }
  forget()
  return { url: `http://127.0.0.1:${port}/plants`, send, replicas, forget }
}

/** Reads over connections that stay open, as most clients do. */
async function readOver(agent: Agent, url: string): Promise<{ status: number | undefined; body: string }> {
  const [response] = (await once(get(url, { agent }), 'response')) as [IncomingMessage]
  return { status: response.statusCode, body: await text(response) }
}

test('the load balancer retries a read without a response, and never a write', { skip }, async (t) => {
  const { send, replicas, forget } = await startLoadBalancer(t)
  const [one, other] = replicas
  for (const does of ['drop', 'reject']) {
    one.does = does
    for (let times = 0; times < 6; times++) assert.equal((await send('GET')).status, 200)
    assert.ok(one.methods.length > 0, `no request reached the replica that should ${does} it`)
    other.does = does
    forget()
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const response = await send(method, method === 'DELETE' ? {} : { body: '{}' })
      assert.equal(response.status, does === 'drop' ? 502 : 503)
      assert.match(await response.text(), does === 'drop' ? /"error":50001,/ : /"error":50303/)
    }
    assert.deepEqual([...one.methods, ...other.methods].sort(), ['DELETE', 'PATCH', 'POST', 'PUT'])
    other.does = 'response'
    forget()
  }
})

test('the load balancer sends a request that reached no replica to another, or responds 50302', {
  skip,
}, async (t) => {
  const { send, replicas } = await startLoadBalancer(t)
  const [one, other] = replicas
  one.close()
  for (let times = 0; times < 6; times++) assert.equal((await send('POST', { body: '{}' })).status, 200)
  assert.equal(other.methods.length, 6)
  other.close()
  const response = await eventually(async () => {
    const rejected = await send('POST', { body: '{}' })
    return rejected.headers.has('retry-after') && rejected
  })
  assert.equal(response.status, 503)
  assert.match(await response.text(), /"error":50302,/)
})

test('the load balancer responds with an Error body if a replica is late or sends no HTTP', {
  skip,
}, async (t) => {
  const { send, replicas } = await startLoadBalancer(t, (text) =>
    text.replace(/timeout server .*/, 'timeout server 200ms'),
  )
  for (const [does, status] of [
    ['wait', 504],
    ['garbage', 502],
  ] as const) {
    for (const replica of replicas) replica.does = does
    const response = await send('POST', { body: '{}' })
    assert.equal(response.status, status)
    assert.equal(response.headers.get('content-type'), 'application/json')
    assert.equal(((await response.json()) as { error: number }).error, 50001)
  }
})

test('the load balancer drops no read while the last replica stops to be ready', {
  skip,
}, async (t) => {
  const { url, replicas } = await startLoadBalancer(t)
  for (const replica of replicas) replica.isReady = false
  for (const replica of replicas) replica.does = 'reject'
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  t.after(() => agent.destroy())
  const bodies = new Set<string>()
  // HAProxy marks a replica as down after two checks, a second apart.
  for (const endMs = performance.now() + 4_000; performance.now() < endMs; ) {
    const reads = Array.from({ length: 8 }, () => readOver(agent, url))
    for (const { status, body } of await Promise.all(reads)) {
      assert.equal(status, 503)
      bodies.add(body)
    }
  }
  const message = 'No replica of the service is ready. Nothing was done; try again.'
  assert.deepEqual([...bodies].sort(), [JSON.stringify({ error: 50302, message }), '{"error":50303}'])
})

test('the load balancer forwards the client address, long fields and large bodies', { skip }, async (t) => {
  const { send } = await startLoadBalancer(t)
  const body = 'a'.repeat(3 * SETTINGS.bodyBytesMax.default)
  const headers = { 'x-forwarded-for': '203.0.113.9', 'x-long': 'a'.repeat(HEADER_BYTES_MAX - 1024) }
  const response = await send('POST', { body, headers })
  assert.deepEqual(await response.json(), { from: '127.0.0.1', bytes: body.length })
})
