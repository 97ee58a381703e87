import assert from 'node:assert/strict'
import { readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import packageJson from '../../package.json' with { type: 'json' }
import { codeBlocks } from '../docs/documents.ts'
import { startApp, TOKEN } from '../support/http/start-app.ts'
import { PROGRAM, TYPED_PROGRAM } from './consumer-programs.ts'
import {
  copySources,
  environmentOf,
  type InstalledPackage,
  installPackage,
  lintTarball,
  olderNode,
  ROOT,
  run,
  TOOLS,
  writeFiles,
} from './installed-package.ts'

const NODE_MAJOR_MIN = 20
const NAME = 'plantstore-client'

let installed: InstalledPackage
const lifetime: (() => void | Promise<void>)[] = []

before(async () => {
  const files = { after: (finish: () => void | Promise<void>) => lifetime.push(finish) }
  const words = ['run', '--silent', 'client-package']
  installed = await installPackage(files, copySources(files), { words })
})

after(async () => {
  for (const finish of lifetime) await finish()
})

/** A program that imports the client by the name of its package. */
const ofPackage = (program: string) => program.replaceAll('plantstore/client', NAME)

test('the package of the client installs itself alone', () => {
  const packages = readdirSync(join(installed.folder, 'node_modules')).filter((name) => !name.startsWith('.'))
  assert.deepEqual(packages, [NAME])
  const root = join(installed.folder, 'node_modules', NAME)
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  assert.deepEqual([manifest.name, manifest.version], [NAME, packageJson.version])
  assert.deepEqual(
    [manifest.dependencies, manifest.private, manifest.scripts],
    [undefined, undefined, undefined],
  )
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const strays = files.filter(
    ({ name }) => !/\.js$|\.d\.ts$|^(?:LICENSE|README\.md|package\.json)$/.test(name),
  )
  assert.deepEqual(strays, [])
})

test('its README names the package, and has no link that leads out of it', () => {
  const readme = readFileSync(join(installed.folder, 'node_modules', NAME, 'README.md'), 'utf8')
  assert.ok(readme.startsWith(`# ${NAME}\n`))
  assert.ok(readme.includes(`from '${NAME}'`))
  assert.ok(!readme.includes('plantstore/client'))
  assert.doesNotMatch(readme, /\]\((?!https?:|#)/)
})

test('publint and attw find nothing wrong with the tarball of the client', async () =>
  lintTarball(installed.tarball))

test('plain JavaScript uses the client on this Node and on the oldest supported one', async (context) => {
  const { url } = await startApp(context)
  writeFiles(installed.folder, { 'program.js': ofPackage(PROGRAM) })
  const older = await olderNode(NODE_MAJOR_MIN)
  if (older === undefined)
    context.diagnostic(`no Node of ${NODE_MAJOR_MIN} or later that is older than this one`)
  for (const [at, node] of [process.execPath, older].entries()) {
    if (node === undefined) continue
    const id = String(9_007_199_254_740_993n + BigInt(at))
    const result = await run(node, ['program.js', url, TOKEN, id], installed.folder)
    assert.deepEqual(result, { code: 0, stdout: 'true true true 40901 Açaí palm\n', stderr: '' })
  }
})

test('the npm of these tests gets the settings that reach the registry, and no other setting of the outer npm', () => {
  const settings = {
    NODE_EXTRA_CA_CERTS: '/etc/company.pem',
    HTTPS_PROXY: 'http://proxy:3128',
    npm_config_registry: 'https://npm.example.org/',
    npm_config_cafile: '/etc/company.pem',
    npm_config_https_proxy: 'http://proxy:3128',
    'npm_config_//npm.example.org/:_authToken': 'secret',
  }
  const dropped = { npm_config_local_prefix: '/a', npm_lifecycle_event: 'test', NODE_OPTIONS: '--inspect' }
  const environment = environmentOf(process.execPath, { PATH: '/bin', ...settings, ...dropped })
  for (const [name, value] of Object.entries(settings)) assert.equal(environment[name], value, name)
  for (const name of Object.keys(dropped)) assert.equal(environment[name], undefined, name)
  assert.ok(Number(environment.npm_config_fetch_timeout) <= 60_000)
})

test('strict TypeScript accepts the types of the client, and the programs of the documents', async () => {
  for (const name of ['@types', 'undici-types']) {
    symlinkSync(join(ROOT, 'node_modules', name), join(installed.folder, 'node_modules', name))
  }
  writeFiles(installed.folder, {
    'program.ts': ofPackage(TYPED_PROGRAM),
    'readme.ts': ofPackage(codeBlocks('README.md', 'js').join('\n')),
    'guide.ts': ofPackage(codeBlocks('docs/client.md', 'js').join('\n')),
  })
  const base = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    noEmit: true,
    target: 'es2022',
  }
  const projects = {
    node: [
      { ...base, module: 'nodenext', types: ['node'], lib: ['es2022'] },
      ['program.ts', 'readme.ts', 'guide.ts'],
    ],
    bundler: [
      { ...base, module: 'preserve', moduleResolution: 'bundler', types: [], lib: ['es2022', 'dom'] },
      ['program.ts'],
    ],
  }
  for (const [name, [compilerOptions, files]] of Object.entries(projects)) {
    const project = `tsconfig.${name}.json`
    writeFiles(installed.folder, { [project]: JSON.stringify({ compilerOptions, files }) })
    const checked = await run(join(TOOLS, 'tsc'), ['--project', project], installed.folder)
    assert.deepEqual([checked.code, checked.stdout], [0, ''], name)
  }
})
