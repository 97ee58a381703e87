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
import { variableOf } from '../src/config.ts'
import { ERRORS } from '../src/errors.ts'
import { HEADER_BYTES_MAX } from '../src/http/ordered-server.ts'
import { SETTINGS } from '../src/settings.ts'
import { eventually } from './support/eventually.ts'
import { findFreePort } from './support/free-port.ts'
import { temporaryFolder } from './support/start-app.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** The instructions of a Dockerfile, with continued lines joined: name and the rest. */
const dockerfile = readFileSync(join(ROOT, 'Dockerfile'), 'utf8')
const instructionLines = dockerfile.replace(/^#.*\n/gm, '').replace(/\\\n/g, ' ')
const instructions = [...instructionLines.matchAll(/^(\S+) +(.*)$/gm)].map(([, name = '', rest = '']) => ({
  name,
  rest,
}))
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

const KNOWN_VARIABLES = new Set(Object.keys(SETTINGS).map(variableOf))
test('a linter has nothing to say of the Dockerfile and of compose.yaml', () => {
  assert.deepEqual(validate(dockerfile), [])
  const rules = {
    // How keys are ordered is a matter of taste: what is read first comes first here.
    'service-keys-order': 0,
    'top-level-properties-order': 0,
    // As the formatter writes them.
    'require-quotes-in-ports': [2, { quoteType: 'double' }],
  }
  const linter = new DCLinter({ rules, quiet: false, debug: false, exclude: [] })
  // Its declarations cannot be resolved the way Node resolves.
  const results = linter.lintFiles([join(ROOT, 'compose.yaml')], false) as { messages: unknown[] }[]
  assert.deepEqual([results.length, results[0]?.messages], [1, []])
})

test('the image copies what exists, runs as no root, and sets settings that there are', () => {
  const sent = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n')
  for (const { rest } of instructions.filter(({ name, rest }) => name === 'COPY' && !rest.startsWith('--'))) {
    for (const source of rest.split(/\s+/).slice(0, -1)) {
      assert.ok(existsSync(join(ROOT, source)), source)
      const isSent = sent.includes(`!${source.split('/')[0]}`) && !sent.includes(source)
      assert.ok(isSent, `.dockerignore leaves ${source} out`)
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
  const graceMs = 1000 * Number.parseFloat(plantstore?.stop_grace_period ?? '')
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
    PLANTSTORE_PORT: String(await findFreePort()),
  }
  const [, ...parameters]: string[] = [instruction('ENTRYPOINT'), instruction('CMD')].flatMap((part) =>
    JSON.parse(part),
  )
  const service = spawn(process.execPath, parameters, { cwd: app, env: environment, stdio: 'ignore' })
  t.after(() => service.kill('SIGKILL'))
  const [, check = '[]'] = /CMD (\[.*\])$/.exec(instruction('HEALTHCHECK')) ?? []
  const [, ...checkParameters] = JSON.parse(check) as string[]
  await eventually(async () => {
    const look = spawn(process.execPath, checkParameters, { env: environment, stdio: 'ignore' })
    return (await once(look, 'exit'))[0] === 0
  }, 10_000)
  const page = await fetch(`http://127.0.0.1:${environment.PLANTSTORE_PORT}/garden/docs/reference.js`)
  assert.equal(page.status, 200, 'what is read only when it is asked for is there too')
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
  for (const [, code = ''] of loadBalancer.matchAll(/"error":(\d+)/g)) assert.ok(code in ERRORS, code)
})

test('HAProxy accepts the configuration as it is', { skip }, () => {
  const { status, stderr } = spawnSync(HAPROXY, ['-c', '-f', join(ROOT, 'deploy/haproxy.cfg')])
  assert.equal(status, 0, String(stderr))
  assert.doesNotMatch(String(stderr), /WARNING|ALERT/)
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

/** A connection for each request: on one that was used before, HAProxy closes instead of answering 502. */
const ALONE = { connection: 'close' }

/** The load balancer as it is configured, before two replicas on this machine. */
async function startLoadBalancer(t: TestContext) {
  const replicas = [await startReplica(t), await startReplica(t)] as const
  const port = await findFreePort()
  const servers = replicas.map((replica) => `server replica-${replica.port} 127.0.0.1:${replica.port}`)
  const file = join(temporaryFolder(t), 'haproxy.cfg')
  const bound = loadBalancer.replace(/bind :\d+/, `bind 127.0.0.1:${port}`)
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
  return { send, replicas, forget }
}

test('the load balancer sends a read again that got no answer, and never a write', { skip }, async (t) => {
  const { send, replicas, forget } = await startLoadBalancer(t)
  const [one, other] = replicas
  for (const does of ['hang up', 'refuse']) {
    one.does = does
    for (let times = 0; times < 6; times++) assert.equal((await send('GET')).status, 200)
    assert.ok(one.methods.length > 0, `none came to the one that should ${does}`)
    other.does = does
    forget()
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const answer = await send(method, method === 'DELETE' ? {} : { body: '{}' })
      assert.equal(answer.status, does === 'hang up' ? 502 : 503)
      assert.match(await answer.text(), does === 'hang up' ? /"error":50001,/ : /"error":50303/)
    }
    assert.deepEqual([...one.methods, ...other.methods].sort(), ['DELETE', 'PATCH', 'POST', 'PUT'])
    other.does = 'answer'
    forget()
  }
})

test('the load balancer sends what reached no replica to another, or says so', { skip }, async (t) => {
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
  assert.match(await answer.text(), /"error":50302,/)
})

test('the load balancer passes on who the client is, long fields and large bodies', { skip }, async (t) => {
  const { send } = await startLoadBalancer(t)
  const body = 'a'.repeat(3 * SETTINGS.bodyBytesMax.default)
  const headers = { 'x-forwarded-for': '203.0.113.9', 'x-long': 'a'.repeat(HEADER_BYTES_MAX - 1024) }
  const answer = await send('POST', { body, headers })
  assert.deepEqual(await answer.json(), { from: '127.0.0.1', bytes: body.length })
})
