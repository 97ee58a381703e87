import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { CommitReport } from '../../../src/storage/batching/group-commit.ts'
import { eventually } from '../../support/eventually.ts'
import { assertErrorResponse } from '../../support/http/error-body.ts'
import { startAlteredApp } from '../../support/http/start-altered-app.ts'

let isDraining = false
/** What the storage does on a ping. */
let ping: () => Promise<void> = async () => {}

/** Reports a commit to the app. */
let reportCommit: (commit: CommitReport) => void = () => {}

const app = await startAlteredApp(
  { after },
  {
    storage: (real) => ({
      ...real,
      async ping() {
        await ping()
        await real.ping()
      },
      activity: {
        ...real.activity,
        onCommit(listener) {
          const before = reportCommit
          reportCommit = (commit) => [before, listener].map((one) => one(commit))
          real.activity.onCommit(listener)
        },
      },
    }),
    isDraining: () => isDraining,
  },
)

test('/healthz and /readyz need no token, and their bodies are minimal', async () => {
  const engine = process.env.TEST_DATABASE_SERVER === undefined ? 'sqlite' : 'postgres'
  for (const [path, expected] of [
    ['/healthz', { status: 'up' }],
    ['/readyz', { status: 'ready', version: '1.2.3', engine, writes: 'working' }],
  ] as const) {
    const response = await fetch(app.url + path)
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8')
    assert.deepEqual(await response.json(), expected)
  }
})

test('a draining service is up and not ready', async () => {
  isDraining = true
  assert.equal((await app.fetch('/healthz')).status, 200)
  const response = await app.fetch('/readyz')
  isDraining = false
  assert.equal(response.headers.get('retry-after'), '5')
  await assertErrorResponse(response, 503, 50303)
})

test('a service whose storage fails is up and not ready, until it works again', async () => {
  ping = () => Promise.reject(new Error('disk I/O error'))
  assert.equal((await app.fetch('/healthz')).status, 200)
  await assertErrorResponse(await app.fetch('/readyz'), 503, 50302)
  const line = await eventually(() => app.log.find(({ error }) => error === 50302))
  assert.match(String(line.cause), /disk I\/O error/)
  ping = async () => {}
  assert.equal((await app.fetch('/readyz')).status, 200)
})

test('a service whose commits fail stays ready for reads, and reports failing writes until one succeeds', async () => {
  const writes = async () => {
    const response = await app.fetch('/readyz')
    assert.equal(response.status, 200)
    return ((await response.json()) as { writes: string }).writes
  }
  reportCommit({ operations: 1, durationMs: 1, isDurable: false })
  assert.equal(await writes(), 'failing')
  const headers = { 'content-type': 'application/json' }
  const body = '{"id":1,"name":"Rosa"}'
  assert.equal((await app.fetch('/plants', { method: 'POST', headers, body })).status, 200)
  assert.equal(await writes(), 'working')
})

test('a service whose storage does not respond in time is not ready', async () => {
  ping = () => new Promise<void>(() => {})
  const start = performance.now()
  await assertErrorResponse(await app.fetch('/readyz'), 503, 50302)
  assert.ok(performance.now() - start < 4_000)
})
