import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { basename, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { DCLinter } from 'dclint'
import { validate } from 'dockerfile-utils'
import { parse } from 'yaml'
import { SETTINGS, type SettingName, variableOf } from '../src/config.ts'
import { ERRORS } from '../src/errors.ts'
import { HEADER_BYTES_MAX } from '../src/http/ordered-server.ts'
import { eventually } from './support/eventually.ts'
import { findFreePort } from './support/free-port.ts'
import { temporaryFolder } from './support/start-app.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const PORT_VARIABLE = 'PLANTSTORE_PORT'

/** The instructions of a Dockerfile, with continued lines joined: name and the rest. */
const instructions = readFileSync(join(ROOT, 'Dockerfile'), 'utf8')
  .split('\n')
  .filter((line) => !line.startsWith('#'))
  .join('\n')
  .replace(/\\\n/g, ' ')
  .split('\n')
  .filter((line) => line.trim() !== '')
  .map((line) => /^(\S+)\s+(.*)$/.exec(line) ?? [])
  .map(([, name = '', rest = '']) => ({ name, rest }))
const lastStage = instructions.slice(instructions.findLastIndex(({ name }) => name === 'FROM'))
const instruction = (wanted: string) => lastStage.find(({ name }) => name === wanted)?.rest ?? ''
const imageEnvironment = Object.fromEntries(
  [...instruction('ENV').matchAll(/(\w+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value]),
)

interface Service {
  image?: string
  stop_grace_period?: string
  deploy?: { replicas: number }
  command?: string[]
  depends_on?: Record<string, { condition: string }>
  environment?: Record<string, string>
  healthcheck?: { disable?: boolean }
  volumes?: string[]
}
const compose = parse(readFileSync(join(ROOT, 'compose.yaml'), 'utf8'), { merge: true }) as {
  services: Record<string, Service>
}

const KNOWN_VARIABLES = new Set((Object.keys(SETTINGS) as SettingName[]).map(variableOf))

test('a linter has nothing to say of the Dockerfile and of compose.yaml', () => {
  assert.deepEqual(validate(readFileSync(join(ROOT, 'Dockerfile'), 'utf8')), [])
  // How keys are ordered is a matter of taste: what is read first comes first here.
  const rules = { 'service-keys-order': 0, 'top-level-properties-order': 0 } as const
  const linter = new DCLinter({ rules, quiet: false, debug: false, exclude: [] })
  // Its declarations cannot be resolved the way Node resolves.
  const results = linter.lintFiles([join(ROOT, 'compose.yaml')], false) as { messages: unknown[] }[]
  assert.equal(results.length, 1)
  assert.deepEqual(
    results.flatMap(({ messages }) => messages),
    [],
  )
})

test('the image copies what exists, runs as no root, and sets settings that there are', () => {
  const sent = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n')
  for (const { rest } of instructions.filter(({ name, rest }) => name === 'COPY' && !rest.startsWith('--'))) {
    for (const source of rest.split(/\s+/).slice(0, -1)) {
      assert.ok(existsSync(join(ROOT, source)), source)
      assert.ok(sent.includes(`!${source}`), `.dockerignore leaves ${source} out`)
    }
  }
  assert.match(instruction('USER'), /^[1-9][0-9]*:[1-9][0-9]*$/)
  for (const { rest } of instructions.filter(({ name }) => name === 'FROM')) {
    assert.equal(rest.split(/[:-]/)[1], process.versions.node.split('.')[0], 'the Node that is tested')
  }
  const named = Object.keys(imageEnvironment).filter((name) => name.startsWith('PLANTSTORE_'))
  assert.ok(named.length > 0)
  for (const name of named) assert.ok(KNOWN_VARIABLES.has(name), name)
})

test('every service of compose.yaml waits for services that say when they are ready, and is set as it may be', () => {
  for (const [name, service] of Object.entries(compose.services)) {
    for (const [wanted, { condition }] of Object.entries(service.depends_on ?? {})) {
      const other = compose.services[wanted]
      assert.ok(other, `${name} waits for ${wanted}`)
      // Without an image of its own it has the health check of the Dockerfile.
      if (condition === 'service_healthy') assert.ok(other.healthcheck ?? other.image === undefined, wanted)
      else assert.equal(condition, 'service_completed_successfully')
    }
    for (const variable of Object.keys(service.environment ?? {})) {
      if (variable.startsWith('PLANTSTORE_')) assert.ok(KNOWN_VARIABLES.has(variable), variable)
    }
    for (const volume of service.volumes ?? []) {
      const [source = ''] = volume.split(':')
      if (source.startsWith('./')) assert.ok(existsSync(join(ROOT, source)), source)
    }
  }
})

test('replicas leave the schema to what runs before them, and have the time to finish what is under way', () => {
  const { plantstore, migrate } = compose.services
  assert.ok((plantstore?.deploy?.replicas ?? 0) >= 2)
  assert.equal(plantstore?.environment?.PLANTSTORE_MIGRATE, 'off')
  assert.equal(plantstore?.depends_on?.migrate?.condition, 'service_completed_successfully')
  assert.equal(migrate?.environment?.PLANTSTORE_DATABASE, plantstore?.environment?.PLANTSTORE_DATABASE)
  const graceMs = 1000 * Number(/^(\d+)s$/.exec(plantstore?.stop_grace_period ?? '')?.[1])
  assert.ok(graceMs > SETTINGS.shutdownTimeoutMs.default)
})

test('what the image starts serves, its health check sees it, and SIGTERM ends it', async (t) => {
  const app = temporaryFolder(t)
  for (const { rest } of lastStage.filter(({ name, rest }) => name === 'COPY' && !rest.startsWith('--'))) {
    const [source = '', target = ''] = rest.split(/\s+/)
    cpSync(join(ROOT, source), join(app, target === './' ? basename(source) : target), { recursive: true })
  }
  symlinkSync(join(ROOT, 'node_modules'), join(app, 'node_modules'))
  mkdirSync(join(app, 'data'))
  const environment = {
    PATH: process.env.PATH,
    ...imageEnvironment,
    PLANTSTORE_DATABASE: join(app, imageEnvironment.PLANTSTORE_DATABASE ?? ''),
    // The path of the base URL stands before /readyz too.
    PLANTSTORE_BASE_URL: 'https://plants.example/garden/',
    [PORT_VARIABLE]: String(await findFreePort()),
  }
  const [, ...parameters] = [
    ...JSON.parse(instruction('ENTRYPOINT')),
    ...JSON.parse(instruction('CMD')),
  ] as string[]
  const service = spawn(process.execPath, parameters, { cwd: app, env: environment, stdio: 'ignore' })
  t.after(() => service.kill('SIGKILL'))
  const [, check = '[]'] = /CMD (\[.*\])$/.exec(instruction('HEALTHCHECK')) ?? []
  const [, ...checkParameters] = JSON.parse(check) as string[]
  const looks = await eventually(async () => {
    const look = spawn(process.execPath, checkParameters, { env: environment, stdio: 'ignore' })
    const [code] = await once(look, 'exit')
    return code === 0 ? 'healthy' : undefined
  }, 10_000)
  assert.equal(looks, 'healthy')
  service.kill('SIGTERM')
  assert.deepEqual(await once(service, 'exit'), [0, null])
})

const HAPROXY = '/usr/sbin/haproxy'
const skip = existsSync(HAPROXY) ? false : `the load balancer is not tested: there is no ${HAPROXY}`
const loadBalancer = readFileSync(join(ROOT, 'deploy/haproxy.cfg'), 'utf8')

test('the load balancer sends to a service of compose.yaml, at the port that the image opens', () => {
  const targets = [...loadBalancer.matchAll(/^ +server(?:-template)? .*?([\w-]+):(\d+)/gm)]
  assert.ok(targets.length > 0)
  for (const [, service = '', port] of targets) {
    assert.ok(service in compose.services, service)
    assert.equal(port, instruction('EXPOSE'))
  }
  const codes = [...loadBalancer.matchAll(/"error":(\d+)/g)].map(([, code = '']) => code)
  assert.ok(codes.length > 0)
  for (const code of codes) assert.ok(code in ERRORS, code)
})

test('HAProxy accepts the configuration as it is', { skip }, () => {
  const { status, stderr } = spawnSync(HAPROXY, ['-c', '-f', join(ROOT, 'deploy/haproxy.cfg')], {
    encoding: 'utf8',
  })
  assert.equal(status, 0, stderr)
  assert.doesNotMatch(stderr, /WARNING|ALERT/)
})

/** Stands for a replica: it says that it is ready, and does with other requests what it is told to. */
async function startReplica(t: TestContext) {
  const replica = { port: await findFreePort(), does: 'answer', methods: [] as string[], close() {} }
  const server = createServer(async (request, response) => {
    if (request.url === '/readyz') return void response.end()
    replica.methods.push(request.method ?? '')
    if (replica.does === 'hang up') return void request.socket.destroy()
    if (replica.does === 'refuse') return void response.writeHead(503).end('{"error":50303}')
    let bytes = 0
    for await (const piece of request) bytes += piece.length
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

/** The load balancer as it is configured, before two replicas on this machine. */
async function startLoadBalancer(t: TestContext) {
  const replicas = [await startReplica(t), await startReplica(t)] as const
  const port = await findFreePort()
  const servers = replicas.map((replica) => `server replica-${replica.port} 127.0.0.1:${replica.port}`)
  const file = join(temporaryFolder(t), 'haproxy.cfg')
  const configuration = loadBalancer
    .replace(/bind :\d+/, `bind 127.0.0.1:${port}`)
    .replace(/server-template .*/, servers.join('\n    '))
  writeFileSync(file, configuration)
  const process = spawn(HAPROXY, ['-db', '-f', file], { stdio: 'ignore' })
  t.after(() => process.kill('SIGKILL'))
  // A connection of its own for each request: of a kept one only the client can tell that it was lost.
  const send = (method: string, init: { body?: string; headers?: Record<string, string> } = {}) =>
    fetch(`http://127.0.0.1:${port}/plants`, {
      method,
      ...init,
      headers: { ...init.headers, connection: 'close' },
    })
  await eventually(async () => (await send('GET').catch(() => undefined))?.ok)
  for (const { methods } of replicas) methods.length = 0
  return { send, replicas }
}

test('the load balancer sends a read again that got no answer, and never a write', { skip }, async (t) => {
  const { send, replicas } = await startLoadBalancer(t)
  const [one, other] = replicas
  for (const does of ['hang up', 'refuse']) {
    one.does = does
    for (let times = 0; times < 6; times++) assert.equal((await send('GET')).status, 200)
    assert.ok(one.methods.length > 0, `none came to the one that should ${does}`)
    other.does = does
    for (const { methods } of replicas) methods.length = 0
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const answer = await send(method, method === 'DELETE' ? {} : { body: '{}' })
      assert.equal(answer.status, does === 'hang up' ? 502 : 503)
      const { error } = (await answer.json()) as { error: number }
      assert.equal(error, does === 'hang up' ? 50001 : 50303)
    }
    assert.deepEqual([...one.methods, ...other.methods].sort(), ['DELETE', 'PATCH', 'POST', 'PUT'])
    other.does = 'answer'
    for (const { methods } of replicas) methods.length = 0
  }
})

test('the load balancer sends what reached no replica to another one, and says when there is none', {
  skip,
}, async (t) => {
  const { send, replicas } = await startLoadBalancer(t)
  const [one, other] = replicas
  one.close()
  for (let times = 0; times < 6; times++) assert.equal((await send('POST', { body: '{}' })).status, 200)
  assert.equal(other.methods.length, 6)
  other.close()
  const answer = await eventually(async () => {
    const refused = await send('POST', { body: '{}' })
    return refused.headers.has('retry-after') && refused
  })
  assert.equal(answer.status, 503)
  assert.equal(((await answer.json()) as { error: number }).error, 50302)
})

test('the load balancer passes on the address of the client, long header fields and large bodies', {
  skip,
}, async (t) => {
  const { send } = await startLoadBalancer(t)
  const bytes = 3 * SETTINGS.bodyBytesMax.default
  const headers = { 'x-forwarded-for': '203.0.113.9', 'x-long': 'a'.repeat(HEADER_BYTES_MAX - 1024) }
  const answer = await send('POST', { body: 'a'.repeat(bytes), headers })
  assert.deepEqual(await answer.json(), { from: '127.0.0.1', bytes })
})
