import assert from 'node:assert/strict'
import { builtinModules } from 'node:module'
import { test } from 'node:test'
import packageJson from '../package.json' with { type: 'json' }
import { filesUnder, importsOf, read } from './support/source-imports.ts'

/** The rooms, and the other rooms that each may import. A folder with its own line is not part of the folder around it. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'src/errors.ts': [],
  'src/closest-match.ts': [],
  'src/printable.ts': [],
  'src/readable-log.ts': ['src/printable.ts'],
  'src/log.ts': ['src/readable-log.ts'],
  'src/log-throttle.ts': [],
  'src/version.ts': [],
  'src/config': ['src/errors.ts', 'src/closest-match.ts'],
  'src/load': ['src/errors.ts'],
  'src/http': ['src/errors.ts', 'src/log-throttle.ts', 'src/load'],
  'src/plants': ['src/errors.ts', 'src/plants/import'],
  'src/plants/import': ['src/errors.ts', 'src/plants'],
  'src/plants/routes': ['src/errors.ts', 'src/load', 'src/http', 'src/plants', 'src/plants/import'],
  'src/tokens': ['src/errors.ts', 'src/log-throttle.ts'],
  'src/tokens/access': ['src/errors.ts', 'src/load', 'src/http', 'src/tokens'],
  'src/tokens/routes': ['src/errors.ts', 'src/http', 'src/tokens', 'src/tokens/access'],
  'src/identity': ['src/errors.ts', 'src/config', 'src/tokens', 'src/tokens/access'],
  'src/certificates': ['src/errors.ts', 'src/http'],
  'src/storage': ['src/errors.ts', 'src/load', 'src/plants', 'src/tokens'],
  'src/backups': ['src/errors.ts', 'src/config', 'src/storage'],
  'src/metrics': ['src/errors.ts', 'src/http', 'src/storage', 'src/backups'],
  'src/tracing': ['src/errors.ts', 'src/config', 'src/load', 'src/http'],
  'src/check-config.ts': [
    'src/errors.ts',
    'src/config',
    'src/tokens',
    'src/identity',
    'src/storage',
    'src/backups',
  ],
  'src/app.ts': [
    'src/load',
    'src/http',
    'src/plants',
    'src/plants/import',
    'src/plants/routes',
    'src/tokens',
    'src/tokens/access',
    'src/tokens/routes',
    'src/storage',
    'src/backups',
    'src/metrics',
    'src/tracing',
  ],
  'src/serve.ts': [
    'src/version.ts',
    'src/app.ts',
    'src/check-config.ts',
    'src/config',
    'src/http',
    'src/tokens',
    'src/tokens/access',
    'src/tokens/routes',
    'src/identity',
    'src/certificates',
    'src/storage',
    'src/backups',
    'src/tracing',
  ],
  'src/client': ['src/plants/import'],
  'src/cli': [
    'src/errors.ts',
    'src/version.ts',
    'src/closest-match.ts',
    'src/log.ts',
    'src/printable.ts',
    'src/config',
    'src/plants',
    'src/plants/import',
    'src/tokens',
    'src/tokens/routes',
    'src/storage',
    'src/client',
    'src/serve.ts',
  ],
  'web/app': ['src/client', 'src/plants/import'],
}

/** Packages and the only room that may import each. */
const OWNER_OF_PACKAGE: Readonly<Record<string, string>> = {
  '@opentelemetry': 'src/tracing',
  commander: 'src/cli',
  jose: 'src/identity',
  'node:sqlite': 'src/storage',
  postgres: 'src/storage',
  preact: 'web/app',
  'prom-client': 'src/metrics',
}

const SOURCES = [
  ...filesUnder('src', '.ts'),
  ...filesUnder('web/app', '.ts'),
  ...filesUnder('web/app', '.tsx'),
]
const IMPORTS = SOURCES.flatMap(importsOf)

const isIn = (folder: string) => (path: string) => path === folder || path.startsWith(`${folder}/`)
const isPackage = (target: string) => !/^(?:src|web)\/|^node:|\.json$/.test(target)

/** The room of a file: the longest of those that hold it. */
function roomOf(file: string): string | undefined {
  const rooms = Object.keys(MAY_IMPORT).filter((room) => isIn(room)(file))
  return rooms.sort((a, b) => b.length - a.length)[0]
}

/** Asserts that none of the imports matches. */
function assertNone(imports: typeof IMPORTS): void {
  assert.deepEqual(
    imports.map(({ file, target }) => `${file} -> ${target}`),
    [],
  )
}

test('the parser finds imports of every kind', () => {
  assert.ok(SOURCES.length > 200)
  for (const [file, target] of [
    ['src/cli/program.ts', 'src/cli/commands/serve-command.ts'],
    ['src/cli/main.ts', 'src/cli/program.ts'],
    ['src/storage/open-storage.ts', 'src/storage/sqlite/sqlite-storage.ts'],
    ['src/app.ts', 'fastify'],
    ['web/app/session/session.ts', 'src/client/plant-store-client.ts'],
  ])
    assert.ok(
      IMPORTS.some((one) => one.file === file && one.target === target),
      `${file} -> ${target}`,
    )
  assertNone(
    IMPORTS.filter(({ target }) => /^(?:src|web\/app)\/.*\.tsx?$/.test(target) && !SOURCES.includes(target)),
  )
})

test('every file is in a room, and every room exists', () => {
  assert.deepEqual(
    SOURCES.filter((file) => roomOf(file) === undefined),
    [],
  )
  const rooms = new Set(SOURCES.map(roomOf))
  assert.deepEqual(
    Object.keys(MAY_IMPORT).filter((room) => !rooms.has(room)),
    [],
  )
})

test('a room imports only the rooms that it is allowed to', () => {
  assertNone(
    IMPORTS.filter(({ file, target }) => {
      const [from, to] = [roomOf(file) ?? '', roomOf(target)]
      return to !== undefined && to !== from && !MAY_IMPORT[from]?.includes(to)
    }),
  )
})

test('only open-storage.ts imports the two engines, and they do not import each other', () => {
  for (const engine of ['src/storage/sqlite', 'src/storage/postgres'])
    assertNone(
      IMPORTS.filter(
        ({ file, target }) =>
          isIn(engine)(target) && !isIn(engine)(file) && file !== 'src/storage/open-storage.ts',
      ),
    )
})

/** Pure modules that the web app shares with the service. */
const SHARED_WITH_WEB_APP = [
  'table-dialect',
  'row-scanner',
  'row-reader',
  'table-guess',
  'table-converter',
].map((name) => `src/plants/import/${name}.ts`)

test('the web app and the client import the shared modules, which import only each other', () => {
  const known = ['src/client/plant-store-client.ts', ...SHARED_WITH_WEB_APP]
  assertNone(
    IMPORTS.filter(
      ({ file, target }) =>
        isIn('src/client')(file) && !isIn('src/client')(target) && !known.includes(target),
    ),
  )
  assertNone(
    IMPORTS.filter(
      ({ file, target }) => isIn('web/app')(file) && isIn('src')(target) && !known.includes(target),
    ),
  )
  assertNone(
    IMPORTS.filter(
      ({ file, target }) => SHARED_WITH_WEB_APP.includes(file) && !SHARED_WITH_WEB_APP.includes(target),
    ),
  )
})

test('identity, certificates and tracing are loaded only if they are configured', () => {
  for (const room of ['src/identity', 'src/certificates', 'src/tracing'])
    assertNone(
      IMPORTS.filter(
        ({ file, target, isTypeOnly, isDynamic }) =>
          isIn(room)(target) && !isIn(room)(file) && !isTypeOnly && !isDynamic,
      ),
    )
})

test('a package is imported by the room that needs it, and the domains import none', () => {
  for (const [name, owner] of Object.entries(OWNER_OF_PACKAGE))
    assertNone(IMPORTS.filter(({ file, target }) => isIn(name)(target) && !isIn(owner)(file)))
  const domains = ['src/plants', 'src/plants/import', 'src/tokens', 'src/errors.ts', 'src/client']
  assertNone(
    IMPORTS.filter(
      ({ file, target, isTypeOnly }) =>
        domains.includes(roomOf(file) ?? '') && isPackage(target) && !isTypeOnly,
    ),
  )
})

test('a package that is needed at runtime is a dependency, and one for types only may be a development dependency', () => {
  const { dependencies, devDependencies } = packageJson
  for (const { file, target, isTypeOnly } of IMPORTS) {
    assert.ok(target.startsWith('node:') || !builtinModules.includes(target), `${file}: node:${target}`)
    if (!isPackage(target)) continue
    const name = target.split('/', target.startsWith('@') ? 2 : 1).join('/')
    // The web app is bundled: what it imports is not installed with the service.
    const isRuntime = name in dependencies
    const mayBeDevelopment = isTypeOnly || isIn('web/app')(file)
    assert.ok(isRuntime || (mayBeDevelopment && name in devDependencies), `${file} -> ${name}`)
  }
})

test('only main.ts reads the environment', () => {
  for (const file of SOURCES) {
    if (file === 'src/cli/main.ts') continue
    assert.doesNotMatch(read(file), /process\.env|from 'node:process'/, file)
  }
})
