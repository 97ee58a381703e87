import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { postgresMissing, startPostgres } from '../../support/postgres/postgres-server.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/** The tests of the HTTP service for which it matters what the plants are kept in. */
const FILES = [
  'test/plants/routes/*.test.ts',
  'test/tokens/routes/*.test.ts',
  'test/http/routes/health-routes.test.ts',
  'test/http/openapi-responses.test.ts',
]
/** Of these files, the tests that look into the file of the store. */
const ABOUT_THE_FILE = '^the file '

/** Runs test files in one process, with apps on a server, and returns the exit code and the output. */
async function runTests(files: string[], serverUrl: string): Promise<{ code: number; output: string }> {
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env
  const flags = ['--test', '--test-isolation=none', '--test-reporter=dot']
  const child = spawn(process.execPath, [...flags, `--test-skip-pattern=${ABOUT_THE_FILE}`, ...files], {
    cwd: ROOT,
    env: { ...environment, TEST_DATABASE_SERVER: serverUrl },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text
    })
  }
  const code = await new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (status) => resolve(status ?? 1))
  })
  return { code, output }
}

test('the tests of the HTTP service pass on PostgreSQL', { skip: postgresMissing }, async (t) => {
  const server = await startPostgres(t)
  const files = FILES.flatMap((pattern) => {
    const found = globSync(pattern, { cwd: ROOT })
    assert.ok(found.length > 0, pattern)
    return found
  })
  const { code, output } = await runTests(files, server.url())
  assert.equal(code, 0, output)
  // Every file starts an app, and none of them may have fallen back on a file.
  const databases = await server.query("SELECT count(*) FROM pg_database WHERE datname LIKE 'app%'")
  assert.ok(Number(databases) >= files.length, `${databases} databases were made`)
})
