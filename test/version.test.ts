import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import packageJson from '../package.json' with { type: 'json' }
import { readMigrations } from '../src/storage/migrate.ts'
import { CREATE_MIGRATIONS, MIGRATIONS_FOLDER } from '../src/storage/sqlite/connection/schema.ts'
import { readVersion, versionOf } from '../src/version.ts'
import { runCommand } from './cli/run-command.ts'
import { eventually } from './support/eventually.ts'
import { startApp, temporaryFolder } from './support/http/start-app.ts'
import { startServe } from './support/process/plantstore-process.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const { version: PACKAGE_VERSION } = packageJson

/** A folder with the files of the clone that the version needs. */
function copyClone(t: TestContext): string {
  const folder = temporaryFolder(t)
  for (const file of ['package.json', 'src/version.ts', 'build/write-version.ts']) {
    mkdirSync(join(folder, file, '..'), { recursive: true })
    cpSync(join(ROOT, file), join(folder, file))
  }
  return folder
}

/** Commits the files of a folder, and returns the start of the commit's hash. */
function commitAll(folder: string): string {
  const git = (...words: string[]) => {
    const author = ['-c', 'user.name=a', '-c', 'user.email=a@example.org']
    return execFileSync('git', [...author, ...words], { cwd: folder, encoding: 'utf8' }).trim()
  }
  git('init', '--quiet')
  git('add', '.')
  git('commit', '--quiet', '--no-gpg-sign', '--message=All')
  return git('rev-parse', 'HEAD').slice(0, 7)
}

/** What `readVersion` of the folder returns, in a process of its own. */
function versionIn(folder: string, environment: Record<string, string> = {}): string {
  const program = "import('./src/version.ts').then(({ readVersion }) => readVersion()).then(console.log)"
  const env = { PATH: process.env.PATH, ...environment }
  return execFileSync(process.execPath, ['--eval', program], { cwd: folder, env, encoding: 'utf8' }).trim()
}

test('in a clone the version names the commit, and whether files differ from it', (t) => {
  const folder = copyClone(t)
  const hash = commitAll(folder)
  assert.equal(versionIn(folder), `${PACKAGE_VERSION}+g${hash}`)
  writeFileSync(join(folder, 'untracked'), '')
  assert.equal(versionIn(folder), `${PACKAGE_VERSION}+g${hash}`)
  appendFileSync(join(folder, 'package.json'), '\n')
  assert.equal(versionIn(folder), `${PACKAGE_VERSION}+g${hash}-dirty`)
})

test('without Git, or without a repository of its own, the version is that of the package', (t) => {
  const folder = copyClone(t)
  commitAll(folder)
  assert.equal(versionIn(folder, { PATH: '' }), PACKAGE_VERSION)
  const inner = join(folder, 'packages/plantstore')
  for (const part of ['package.json', 'src'])
    cpSync(join(folder, part), join(inner, part), { recursive: true })
  assert.equal(versionIn(inner), PACKAGE_VERSION)
  rmSync(join(folder, '.git'), { recursive: true })
  assert.equal(versionIn(folder), PACKAGE_VERSION)
})

test('a build stamps the commit of its clone, or the given one, beside its code', (t) => {
  const folder = copyClone(t)
  const stamp = (environment: Record<string, string>) => {
    const env = { PATH: process.env.PATH, ...environment }
    execFileSync(process.execPath, ['build/write-version.ts', 'src'], { cwd: folder, env })
    return versionIn(folder, { PATH: '' })
  }
  assert.equal(stamp({ GIT_COMMIT: '1a2b3c4d5e6f-dirty' }), `${PACKAGE_VERSION}+g1a2b3c4-dirty`)
  rmSync(join(folder, 'src/version.txt'))
  assert.equal(stamp({ GIT_COMMIT: '' }), PACKAGE_VERSION)
  rmSync(join(folder, 'src/version.txt'))
  const hash = commitAll(folder)
  assert.equal(stamp({}), `${PACKAGE_VERSION}+g${hash}`)
})

test('the image is stamped with the build argument GIT_COMMIT', () => {
  const dockerfile = readFileSync(join(ROOT, 'Dockerfile'), 'utf8')
  assert.match(dockerfile, /^ARG GIT_COMMIT=""\nRUN node build\/write-version\.ts src$/m)
  assert.match(dockerfile, /^COPY --from=page \/app\/src\/version\.txt \.\/src\/$/m)
})

test('only a hash becomes part of the version', () => {
  for (const text of ['', 'abc', 'main', '1a2b3c4; rm', 'v1.0-3-g1a2b3c4']) {
    assert.equal(versionOf(text), PACKAGE_VERSION, text)
  }
})

test('/readyz and the metrics report the version', async (t) => {
  const app = await startApp(t)
  const version = await readVersion()
  const readiness = (await (await app.fetch('/readyz')).json()) as { version: string }
  assert.equal(readiness.version, version)
  assert.ok(
    (await (await app.fetch('/metrics')).text()).includes(`plantstore_build_info{version="${version}"`),
  )
})

/** A SQLite database with the first version of the schema. */
function olderDatabase(t: TestContext): string {
  const path = join(temporaryFolder(t), 'plants.db')
  const [first = assert.fail()] = readMigrations(MIGRATIONS_FOLDER)
  using database = new DatabaseSync(path)
  database.exec(
    `${CREATE_MIGRATIONS}; ${first.sql}; INSERT INTO migrations VALUES (1, '${first.name}', '2026-01-01')`,
  )
  return path
}

const NEWEST = readMigrations(MIGRATIONS_FOLDER).at(-1)?.version

test('commands report a migration of the schema', async (t) => {
  for (const words of [
    ['token', 'list', '--database'],
    ['copy', '--to', join(temporaryFolder(t), 'b.db'), '--from'],
  ]) {
    const path = olderDatabase(t)
    const { code, stderr } = await runCommand(t, [...words, path])
    assert.equal(code, 0, stderr)
    const expected = `The schema of ${path} was older. Migrated from version 1 to ${NEWEST} in `
    assert.ok(stderr.startsWith(expected), stderr)
  }
  const path = olderDatabase(t)
  const { stdout } = await runCommand(t, ['migrate', '--database', path])
  assert.ok(
    stdout.startsWith(`The schema of ${path} is up to date. Migrated from version 1 to ${NEWEST} in `),
    stdout,
  )
})

test('the start logs a migration of the schema, and the version', async (test) => {
  const database = olderDatabase(test)
  const logged = async () => {
    const service = await startServe(test, { environment: { PLANTSTORE_DATABASE: database } })
    await eventually(() => service.stderr.includes('"serving"'))
    service.child.kill('SIGTERM')
    await once(service.child, 'exit')
    const lines = service.stderr.trimEnd().split('\n')
    return lines.map((line) => JSON.parse(line))
  }
  const [migrated, serving] = await logged()
  const { msg, from, to, durationMs } = migrated
  assert.deepEqual([msg, from, to], ['migrated the schema of the database', 1, NEWEST])
  assert.ok(Number.isInteger(durationMs), durationMs)
  assert.deepEqual([serving.msg, serving.version], ['serving', await readVersion()])
  assert.deepEqual((await logged()).map((line) => line.msg).slice(0, 1), ['serving'])
})
