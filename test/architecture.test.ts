import assert from 'node:assert/strict'
import { builtinModules } from 'node:module'
import { basename } from 'node:path'
import { test } from 'node:test'
import packageJson from '../package.json' with { type: 'json' }
import { filesUnder, importsOf, read } from './support/source-imports.ts'

const FILE_LINES_MAX = 250

const SOURCES = filesUnder('src', '.ts')
const PAGE = [...filesUnder('web/app', '.ts'), ...filesUnder('web/app', '.tsx')]
const STYLES = filesUnder('web/app', '.css')
const IMPORTS = SOURCES.flatMap(importsOf)

/** Asserts that no import of a file that `of` picks goes where `to` says. */
function assertNone(of: (file: string) => boolean, to: (target: string) => boolean): void {
  const wrong = IMPORTS.filter(({ file, target }) => of(file) && to(target))
  assert.deepEqual(
    wrong.map(({ file, target }) => `${file} -> ${target}`),
    [],
  )
}

const isIn =
  (...folders: string[]) =>
  (path: string) =>
    folders.some((folder) => path.startsWith(`${folder}/`))
const isOneOf =
  (...files: string[]) =>
  (path: string) =>
    files.includes(path)

/** The folders of a domain that may know HTTP: its routes, and the checks of callers. */
const isDoor = isIn('src/plants/routes', 'src/tokens/routes', 'src/tokens/access')

test('imports are found, so that what follows means something', () => {
  assert.ok(SOURCES.length > 30)
  for (const [file, target] of [
    ['src/cli/program.ts', 'src/cli/commands/serve-command.ts'],
    ['src/cli/main.ts', 'src/cli/program.ts'],
    ['src/storage/open-storage.ts', 'src/storage/sqlite/sqlite-storage.ts'],
    ['src/app.ts', 'fastify'],
  ]) {
    assert.ok(
      IMPORTS.some((one) => one.file === file && one.target === target),
      `${file} -> ${target}`,
    )
  }
  const missing = IMPORTS.filter(({ target }) => target.startsWith('src/') && !SOURCES.includes(target))
  assert.deepEqual(missing, [])
})

test('the domains know nothing of storage, HTTP, the command line or any package', () => {
  const isDomain = (file: string) => isIn('src/plants', 'src/tokens')(file) && !isDoor(file)
  assertNone(isDomain, isIn('src/storage', 'src/http', 'src/cli', 'src/client'))
  assertNone(
    isDomain,
    isOneOf(
      'src/app.ts',
      'src/serve.ts',
      'src/config/settings.ts',
      'src/config/read-config.ts',
      'src/log.ts',
    ),
  )
  const packages = IMPORTS.filter(
    ({ file, target, isTypeOnly }) => isDomain(file) && isPackage(target) && !isTypeOnly,
  )
  assert.deepEqual(packages, [])
})

test('the doors of the domains know no storage and no command line', () => {
  assertNone((file) => isIn('src/plants', 'src/tokens')(file) && isDoor(file), isIn('src/storage', 'src/cli'))
})

test('the tokens of a provider are known to the start alone, which loads them where one is set', () => {
  const isIdentity = isIn('src/identity')
  const start = ['src/serve.ts', 'src/check-config.ts']
  assertNone((file) => !isIdentity(file) && !start.includes(file), isIdentity)
  assertNone((file) => !isIdentity(file), isOneOf('jose'))
  assertNone(isIdentity, isIn('src/storage', 'src/http', 'src/cli', 'src/client', 'src/plants'))
  for (const file of start) assert.doesNotMatch(read(file), /^import [^\n]*identity/m)
})

test('certificates are known to the start alone, which loads them where one is set', () => {
  assertNone((file) => !isIn('src/certificates')(file) && file !== 'src/serve.ts', isIn('src/certificates'))
  assert.doesNotMatch(read('src/serve.ts'), /^import \{[^\n]*certificates/m)
})

test('traces are known to the start alone, which loads them where a collector is named', () => {
  const isTracing = isIn('src/tracing')
  const wrong = IMPORTS.filter(({ file, target, isTypeOnly }) => {
    const isSettings = target === 'src/config/tracing-settings.ts' && file === 'src/config/read-config.ts'
    if (target.startsWith('@opentelemetry/')) return !isTracing(file)
    return isTracing(target) && !isTracing(file) && !isTypeOnly && file !== 'src/serve.ts' && !isSettings
  })
  assert.deepEqual(wrong, [])
  assertNone(
    isTracing,
    isIn('src/storage', 'src/metrics', 'src/cli', 'src/client', 'src/plants', 'src/tokens'),
  )
  assert.doesNotMatch(read('src/serve.ts'), /^import \{[^\n]*tracing/m)
})

test('HTTP knows callers and preconditions, and nothing that stands on it', () => {
  const above = isIn(
    'src/identity',
    'src/certificates',
    'src/metrics',
    'src/tracing',
    'src/cli',
    'src/client',
  )
  assertNone(isIn('src/http'), (target) => above(target) || isOneOf('src/app.ts', 'src/serve.ts')(target))
  const ofPlants = IMPORTS.filter(({ file, target }) => isIn('src/http')(file) && isIn('src/plants')(target))
  assert.deepEqual(
    ofPlants.map(({ target, isTypeOnly }) => ({ target, isTypeOnly })),
    [{ target: 'src/plants/plant-store.ts', isTypeOnly: true }],
  )
})

test('the client knows nothing but itself', () => {
  assertNone(isIn('src/client'), (target) => !isIn('src/client')(target))
})

test('plants know nothing of tokens, and tokens nothing of plants', () => {
  assertNone(isIn('src/plants'), isIn('src/tokens'))
  assertNone(isIn('src/tokens'), isIn('src/plants'))
})

test('HTTP, the client and the command line know no concrete store', () => {
  assertNone(isIn('src/http', 'src/client'), isIn('src/storage'))
  assertNone((file) => !isIn('src/storage')(file), isIn('src/storage/sqlite', 'src/storage/postgres'))
})

test('only open-storage.ts knows the concrete stores, and they do not know each other', () => {
  const engines = ['src/storage/sqlite', 'src/storage/postgres']
  for (const engine of engines) {
    assertNone((file) => !isIn(engine)(file) && file !== 'src/storage/open-storage.ts', isIn(engine))
  }
})

test('storage looks down only: at the domains, and not at what serves them', () => {
  const above = isOneOf(
    'src/app.ts',
    'src/serve.ts',
    'src/config/settings.ts',
    'src/config/read-config.ts',
    'src/log.ts',
  )
  assertNone(
    isIn('src/storage'),
    (target) =>
      above(target) || isIn('src/http', 'src/cli', 'src/client', 'src/metrics')(target) || isDoor(target),
  )
})

test('only the metrics know what they are written with, and only the app knows the metrics', () => {
  assertNone((file) => !isIn('src/metrics')(file), isOneOf('prom-client'))
  assertNone((file) => !isIn('src/metrics')(file) && file !== 'src/app.ts', isIn('src/metrics'))
})

test('only the command line starts the service, and only the service builds the app', () => {
  assertNone((file) => !isIn('src/cli')(file), isOneOf('src/serve.ts'))
  assertNone((file) => file !== 'src/serve.ts', isOneOf('src/app.ts'))
  assertNone((file) => !isIn('src/cli')(file), isIn('src/cli'))
})

/** What is pure, and the same for the service and the web app. */
const SHARED_WITH_WEB_APP = ['table-dialect', 'row-scanner', 'row-reader'].map(
  (name) => `src/plants/import/${name}.ts`,
)

test('the modules that the web app shares with the service import nothing but each other', () => {
  const isShared = isOneOf(...SHARED_WITH_WEB_APP)
  assertNone(isShared, (target) => !isShared(target))
})

test('the page knows the client, the table dialect and its view library alone, and is known to nothing', () => {
  assert.ok(PAGE.length > 10)
  for (const { file, target } of PAGE.flatMap(importsOf)) {
    const isKnown =
      target.startsWith('web/app/') ||
      target === 'src/client/plant-store-client.ts' ||
      SHARED_WITH_WEB_APP.includes(target) ||
      /^preact(?:\/hooks)?$/.test(target)
    assert.ok(isKnown, `${file} -> ${target}`)
  }
  assertNone(() => true, isIn('web'))
})

test('errors.ts stands below everything', () => {
  assertNone(isOneOf('src/errors.ts'), () => true)
})

test('no module imports itself in a circle', () => {
  const targets = Map.groupBy(
    IMPORTS.filter(({ isTypeOnly }) => !isTypeOnly),
    ({ file }) => file,
  )
  const done = new Set<string>()
  function visit(file: string, path: readonly string[]): void {
    assert.ok(!path.includes(file), [...path, file].join(' -> '))
    if (done.has(file)) return
    for (const { target } of targets.get(file) ?? []) visit(target, [...path, file])
    done.add(file)
  }
  for (const file of SOURCES) visit(file, [])
})

function isPackage(target: string): boolean {
  return !target.startsWith('src/') && !target.startsWith('node:') && !target.endsWith('.json')
}

test('what runs is a dependency; what only types need may be one of development', () => {
  for (const { file, target, isTypeOnly } of IMPORTS) {
    assert.ok(target.startsWith('node:') || !builtinModules.includes(target), `${file}: node:${target}`)
    if (!isPackage(target)) continue
    const name = target.split('/', target.startsWith('@') ? 2 : 1).join('/')
    const isRuntime = name in packageJson.dependencies
    assert.ok(isRuntime || (isTypeOnly && name in packageJson.devDependencies), `${file} -> ${name}`)
  }
})

test('the environment is read in config.ts alone', () => {
  for (const file of SOURCES) {
    if (file === 'src/config/read-config.ts') continue
    // main.ts tells the threads where compiled code is kept: it sets, and reads nothing.
    const text = read(file).replace(/^process\.env\.NODE_COMPILE_CACHE = /gm, '')
    assert.doesNotMatch(text, /process\.env|from 'node:process'/, file)
  }
})

test('a file is named for what it exports, and no name is a drawer', () => {
  const drawer =
    /^(?:index|types|misc|shared)$|\b(?:utils?|helpers?|common|managers?|services?|handlers?|data)$/
  for (const file of [...SOURCES, ...PAGE]) assert.doesNotMatch(basename(file, '.ts'), drawer, file)
  for (const file of [...SOURCES, ...PAGE, ...filesUnder('test', '.ts')]) {
    assert.match(basename(file).replace(/(\.test)?\.tsx?$/, ''), /^[a-z0-9]+(-[a-z0-9]+)*$/, file)
    assert.doesNotMatch(
      basename(file, '.ts'),
      /^(?:index|utils?|helpers?|common|data|misc|shared|types)$/,
      file,
    )
  }
})

test('a file has 250 lines at most, no default export and no test that runs alone', () => {
  const files = [...SOURCES, ...PAGE, ...STYLES, ...filesUnder('test', '.ts'), ...filesUnder('src', '.sql')]
  for (const file of files) {
    const text = read(file)
    assert.ok(text.trimEnd().split('\n').length <= FILE_LINES_MAX, `${file} is too long`)
    assert.doesNotMatch(text, /^export default|^export \{[^}]*\bas default\b/m, file)
    assert.doesNotMatch(text, /^\s*(?:test|describe|it)\.only\(|\bonly: true/m, file)
  }
})

test('a class is an error, or owns what it holds: a list of pages, or slots and a queue', () => {
  const classes = [...SOURCES, ...PAGE].flatMap(
    (file) => read(file).match(/^(?:export )?class .*(?=\{)/gm) ?? [],
  )
  assert.ok(classes.length > 5)
  for (const line of classes) {
    assert.match(line, / extends (Setup)?Error\b|^export class (PlantPages|BoundedQueue|CallerRotation)/)
  }
})

test('no file only passes on what others export', () => {
  for (const file of [...SOURCES, ...PAGE])
    assert.doesNotMatch(read(file), /^export (?:type )?(?:\*|\{[^}]*\}) .*from/m, file)
})
