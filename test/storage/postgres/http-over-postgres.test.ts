import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { postgresMissing, startPostgres } from '../../support/postgres/postgres-server.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/** The tests of the HTTP service for which the storage matters. */
const GROUPS = {
  imports: ['test/plants/routes/import-*.test.ts'],
  plants: ['test/plants/routes/!(import-)*.test.ts'],
  others: [
    'test/tokens/routes/*.test.ts',
    'test/http/routes/health-routes.test.ts',
    'test/http/openapi-responses.test.ts',
  ],
}

/** Runs test files in one process, with apps on a server, and returns the exit code and the output. */
async function runTests(
  files: string[],
  serverUrl: string,
  signal: AbortSignal,
): Promise<{ code: number; output: string }> {
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env
  const flags = ['--test', '--test-isolation=none', '--test-reporter=dot']
  const child = spawn(process.execPath, [...flags, ...files], {
    cwd: ROOT,
    env: { ...environment, TEST_DATABASE_SERVER: serverUrl },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
    killSignal: 'SIGKILL',
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

for (const [group, patterns] of Object.entries(GROUPS)) {
  test(`the HTTP tests of ${group} pass on PostgreSQL`, { skip: postgresMissing }, async (t) => {
    const server = await startPostgres(t)
    const files = patterns.flatMap((pattern) => {
      const found = globSync(pattern, { cwd: ROOT })
      assert.ok(found.length > 0, pattern)
      return found
    })
    const { code, output } = await runTests(files, server.url(), t.signal)
    assert.equal(code, 0, output)
    // Every file starts an app, and none of them may have fallen back on a file.
    const databases = await server.query("SELECT count(*) FROM pg_database WHERE datname LIKE 'app%'")
    assert.ok(Number(databases) >= files.length, `${databases} databases were created`)
  })
}
