import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { DCLinter } from 'dclint'
import { validate } from 'dockerfile-utils'
import ipaddr from 'ipaddr.js'
import { parse } from 'yaml'
import { variableOf } from '../src/config/read-config.ts'
import type { Environment } from '../src/config/setting.ts'
import { SETTINGS } from '../src/config/settings.ts'
import { ERRORS } from '../src/errors.ts'
import { makeCertificate } from './support/certificates.ts'
import { eventually } from './support/eventually.ts'
import { findFreePort } from './support/free-port.ts'
import { temporaryFolder } from './support/http/start-app.ts'

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
  networks?: { front?: { ipv4_address?: string } }
  volumes?: string[]
}
const compose = parse(readFileSync(join(ROOT, 'compose.yaml'), 'utf8'), { merge: true }) as {
  services: Record<string, Service>
  networks: { front: { ipam: { config: [{ subnet: string; ip_range: string }] } } }
}

const KNOWN_VARIABLES = new Set(Object.keys(SETTINGS).map(variableOf))
test('linters find no problem in the Dockerfile and compose.yaml', () => {
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

test('the image copies existing files, does not run as root, and sets existing settings', () => {
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

test('every service of compose.yaml depends on services with a health check, and sets existing settings', () => {
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

test('replicas do not migrate the schema, and have time to finish running requests', () => {
  const { plantstore, migrate } = compose.services
  assert.ok((plantstore?.deploy?.replicas ?? 0) >= 2)
  assert.equal(plantstore?.environment?.PLANTSTORE_MIGRATE, 'false')
  assert.equal(plantstore?.depends_on?.migrate?.condition, 'service_completed_successfully')
  assert.equal(migrate?.environment?.PLANTSTORE_DATABASE, plantstore?.environment?.PLANTSTORE_DATABASE)
  const graceMs = 1000 * Number.parseFloat(plantstore?.stop_grace_period ?? '')
  const delayMs = Number(plantstore?.environment?.PLANTSTORE_SHUTDOWN_DELAY_MS)
  // HAProxy has seen two rejections by then, a second apart.
  assert.ok(delayMs > 2_000)
  assert.ok(graceMs > delayMs + SETTINGS.shutdownTimeoutMs.default)
})

async function assertServes(t: TestContext, settings: Environment): Promise<void> {
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
    ...settings,
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
  const page = join(app, 'reference.js')
  const where = settings.PLANTSTORE_SOCKET ? ['--unix-socket', settings.PLANTSTORE_SOCKET] : []
  const origin = `${settings.PLANTSTORE_TLS_CERT ? 'https' : 'http'}://127.0.0.1:${environment.PLANTSTORE_PORT}`
  const url = `${origin}/garden/docs/reference.js`
  const { status } = spawnSync('curl', ['-sfk', ...where, '-o', page, url])
  assert.equal(status, 0, 'what is read only when it is asked for is there too')
  service.kill('SIGTERM')
  assert.deepEqual(await once(service, 'exit'), [0, null])
}

test('the command of the image serves, passes its health check, and ends on SIGTERM', (t) =>
  assertServes(t, {}))

test('the health check of the image finds the service over TLS and on a socket, too', async (t) => {
  await assertServes(t, makeCertificate(t).settings)
  await assertServes(t, { PLANTSTORE_SOCKET: join(temporaryFolder(t), 'plants.sock') })
})

test('replicas trust the load balancer alone about the addresses of clients', () => {
  const address = compose.services['load-balancer']?.networks?.front?.ipv4_address
  assert.ok(address)
  assert.equal(compose.services.plantstore?.environment?.PLANTSTORE_TRUSTED_PROXIES, address)
  const [range] = compose.networks.front.ipam.config
  const isIn = (network: string) => ipaddr.parse(address).match(ipaddr.parseCIDR(network))
  assert.ok(isIn(range.subnet))
  // Docker would give it to a replica, which starts first.
  assert.ok(!isIn(range.ip_range))
  // Connections to the published port come from the gateway, the first address of the network.
  assert.doesNotMatch(address, /\.1$/)
})

const loadBalancer = readFileSync(join(ROOT, 'deploy/haproxy.cfg'), 'utf8')

test('the load balancer forwards to a service of compose.yaml, at the port of the image', () => {
  const targets = [...loadBalancer.matchAll(/^ +server(?:-template)? .*?([\w-]+):(\d+)/gm)]
  assert.ok(targets.length > 0)
  for (const [, service = '', port] of targets) {
    assert.ok(service in compose.services, service)
    assert.equal(port, instruction('EXPOSE'))
  }
  for (const [, code = ''] of loadBalancer.matchAll(/"error":(\d+)/g)) assert.ok(code in ERRORS, code)
})

test('everything that starts the service passes Node the flags of npm start', () => {
  const flags = /node (--.+?) src/.exec(readFileSync(join(ROOT, 'package.json'), 'utf8'))?.[1]
  assert.ok(flags)
  const starts = {
    Dockerfile: instruction('ENTRYPOINT').replaceAll(/[",]/g, ''),
    ...Object.fromEntries(
      [
        'docs/deploy.md',
        'ops/plantstore.service',
        'src/cli/main.ts',
        'test/support/process/plantstore-process.ts',
      ].map((file) => [file, readFileSync(join(ROOT, file), 'utf8').replaceAll(/[',]/g, '')]),
    ),
  }
  for (const [file, text] of Object.entries(starts)) assert.ok(text.includes(flags), file)
})
