import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { SETTINGS, type SettingName, variableOf } from '../src/config.ts'
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

interface Service {
  image?: string
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

test('the image copies what exists, runs as no root, and sets settings that there are', () => {
  for (const { rest } of instructions.filter(({ name, rest }) => name === 'COPY' && !rest.startsWith('--'))) {
    for (const source of rest.split(/\s+/).slice(0, -1)) assert.ok(existsSync(join(ROOT, source)), source)
  }
  assert.match(instruction('USER'), /^[1-9][0-9]*:[1-9][0-9]*$/)
  const named = instruction('ENV').match(/PLANTSTORE_\w+/g) ?? []
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
    PLANTSTORE_DATABASE: join(app, 'data/plantstore.db'),
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
