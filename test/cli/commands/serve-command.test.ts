import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { eventually } from '../../support/eventually.ts'
import { type Lifetime, startApp, temporaryFolder } from '../../support/http/start-app.ts'
import { runPlantstore, startServe } from '../../support/process/plantstore-process.ts'

/** Asserts that a run ended with `code` and one plain line that says why. */
function assertOneLine(
  run: { code: unknown; stdout: string; stderr: string },
  message: RegExp,
  code = 1,
): void {
  assert.equal(run.code, code, run.stderr)
  assert.equal(run.stdout, '')
  assert.match(run.stderr, /^plantstore: [^\n]+\n$/)
  assert.match(run.stderr, message)
}

const serveOn = (test: Lifetime, database: string, more: string[] = [], uid?: number) =>
  runPlantstore(
    test,
    ['serve', '--port', '0', '--database', database, ...more],
    uid === undefined ? {} : { uid },
  )

test('the first start prints a token and a curl command that creates a plant', async (test) => {
  const service = await startServe(test, { environment: { PLANTSTORE_FIXED_TOKEN: '' } })
  await eventually(() => service.stdout.endsWith('\n\n'))
  const [, token = ''] = /^ {2}(plst_\w+)$/m.exec(service.stdout) ?? []
  const [, line = ''] = /^ {2}(curl .*)$/m.exec(service.stdout) ?? []
  assert.ok(token !== '' && line.includes(token), service.stdout)
  assert.ok(!service.stderr.includes(token), 'the token is in the log')
  const { stdout } = await promisify(execFile)('sh', ['-c', line])
  assert.equal(stdout, '{"name":"Quercus robur","tag":"tree"}')
  const response = await fetch(`${service.url}/plants`, { headers: { authorization: `Bearer ${token}` } })
  assert.equal(((await response.json()) as unknown[]).length, 1)

  // The store is in the working directory, readable by its owner only.
  assert.equal(statSync(join(service.folder, 'data')).mode & 0o777, 0o700)
  assert.equal(statSync(join(service.folder, 'data/plantstore.db')).mode & 0o777, 0o600)

  service.child.kill('SIGTERM')
  assert.equal(await service.exit, 0)
  const again = await startServe(test, {
    folder: service.folder,
    environment: { PLANTSTORE_FIXED_TOKEN: '' },
  })
  assert.equal(again.stdout, `Plant Store is at ${again.url} (API reference: ${again.url}/docs)\n`)
  const kept = await fetch(`${again.url}/plants`, { headers: { authorization: `Bearer ${token}` } })
  assert.equal(kept.status, 200)
})

test('in a pipe the log is a JSON object per line on standard error, and the greeting is on standard output', async (test) => {
  const service = await startServe(test, { environment: { PLANTSTORE_LOG_LEVEL: 'debug' } })
  await fetch(`${service.url}/plants?q=hidden`)
  service.child.kill('SIGTERM')
  assert.equal(await service.exit, 0)
  const lines = service.stderr
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  assert.deepEqual(
    lines.map(({ msg }) => msg),
    ['serving', 'request rejected', 'stopping', 'stopped'],
  )
  for (const { time } of lines) assert.match(String(time), /^\d{4}-\d\d-\d\dT.*Z$/)
  assert.ok(!service.stderr.includes('hidden'))
})

test('a port in use is reported in one line', async (test) => {
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  test.after(() => void taken.close())
  const { port } = taken.address() as { port: number }
  const run = await runPlantstore(test, ['serve', '--port', String(port)])
  assertOneLine(run, new RegExp(`Port ${port} on 127\\.0\\.0\\.1 is in use\\. Choose another with --port`))
})

test('an invalid setting is reported in one line, with an exit code that stops restarts', async (test) => {
  const runs = await Promise.all([
    runPlantstore(test, ['serve', '--port', 'eighty']),
    runPlantstore(test, ['serve'], { environment: { PLANTSTORE_PROT: '80' } }),
    runPlantstore(test, ['serve'], { environment: { PLANTSTORE_FIXED_TOKEN: 'too short' } }),
    runPlantstore(test, ['serve'], { environment: { PLANTSTORE_TLS_CERT: 'cert.pem' } }),
    runPlantstore(test, ['serve'], { environment: { OTEL_EXPORTER_OTLP_ENDPOINT: 'ftp://traces' } }),
    runPlantstore(test, ['serve'], { environment: { PLANTSTORE_DATABASE: 'postgres:///plants' } }),
  ])
  const messages = [
    /: --port must be/,
    /no setting PLANTSTORE_PROT/,
    /: PLANTSTORE_FIXED_TOKEN must be/,
    /: PLANTSTORE_TLS_CERT needs PLANTSTORE_TLS_KEY/,
    /: OTEL_EXPORTER_OTLP_ENDPOINT must be/,
    /: The URL of the database cannot be used: it has no user/,
  ]
  for (const [at, run] of runs.entries()) assertOneLine(run, messages[at] ?? assert.fail(), 2)
  assert.ok(runs.every(({ stderr }) => !stderr.includes('too short')))
})

test('a store that cannot be opened is reported in one line, with the reason', async (test) => {
  const folder = temporaryFolder(test)
  writeFileSync(join(folder, 'file'), 'a file')
  writeFileSync(
    join(folder, 'noise.db'),
    'no database, and longer than a header of a hundred bytes. '.repeat(10),
  )
  mkdirSync(join(folder, 'closed'))
  chmodSync(join(folder, 'closed'), 0o500)
  chmodSync(folder, 0o755)
  // The superuser may write everywhere, so another user runs it.
  const uid = process.getuid?.() === 0 ? 65_534 : undefined
  const runs = await Promise.all([
    serveOn(test, join(folder, 'file/plants.db')),
    serveOn(test, folder),
    serveOn(test, join(folder, 'noise.db')),
    serveOn(test, join(folder, 'closed/plants.db'), [], uid),
  ])
  const reasons = [
    /part of its path is not a folder/,
    /it is a folder/,
    /not a database/,
    /permission denied/,
  ]
  for (const [at, run] of runs.entries()) {
    assertOneLine(run, /The database \S+ cannot be opened: /)
    assertOneLine(run, reasons[at] ?? assert.fail())
  }
})

test('an invalid path of the database is rejected before a file is created', async (test) => {
  for (const database of [':memory:', 'file:plants.db?mode=ro']) {
    assertOneLine(
      await serveOn(test, database),
      /The database must be the path of a file or a postgres:\/\/ URL, not "/,
      2,
    )
    assert.ok(!existsSync(database))
  }
})

test('a store of a newer version is rejected in one line', async (test) => {
  const app = await startApp(test)
  await app.stop()
  const database = new DatabaseSync(app.database)
  database.exec(
    "INSERT INTO migrations (version, name, applied_at) VALUES (9999, '9999-later', '2099-01-01')",
  )
  database.close()
  assertOneLine(
    await serveOn(test, app.database),
    /has schema version 9999, this program supports \d+: use the newer program/,
  )
})
