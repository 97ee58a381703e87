import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import packageJson from '../../package.json' with { type: 'json' }
import { assertErrorAnswer } from '../support/error-body.ts'
import { eventually } from '../support/eventually.ts'
import { startAlteredApp } from '../support/start-altered-app.ts'

let isDraining = false
/** What the storage does when it is asked whether it is there. */
let ping: () => Promise<void> = async () => {}

const app = await startAlteredApp(
  { after },
  {
    storage: (real) => ({
      ...real,
      async ping() {
        await ping()
        await real.ping()
      },
    }),
    isDraining: () => isDraining,
  },
)

test('/healthz and /readyz answer without a token, and tell nothing but that', async () => {
  const engine = process.env.TEST_DATABASE_SERVER === undefined ? 'sqlite' : 'postgres'
  for (const [path, told] of [
    ['/healthz', { status: 'up' }],
    ['/readyz', { status: 'ready', version: packageJson.version, engine }],
  ] as const) {
    const answer = await fetch(app.url + path)
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8')
    assert.deepEqual(await answer.json(), told)
  }
})

test('a draining service is up and not ready', async () => {
  isDraining = true
  assert.equal((await app.fetch('/healthz')).status, 200)
  const answer = await app.fetch('/readyz')
  isDraining = false
  assert.equal(answer.headers.get('retry-after'), '5')
  await assertErrorAnswer(answer, 503, 50303)
})

test('a service whose storage fails is up and not ready, until it works again', async () => {
  ping = () => Promise.reject(new Error('disk I/O error'))
  assert.equal((await app.fetch('/healthz')).status, 200)
  await assertErrorAnswer(await app.fetch('/readyz'), 503, 50302)
  const line = await eventually(() => app.log.find(({ error }) => error === 50302))
  assert.match(String(line.cause), /disk I\/O error/)
  ping = async () => {}
  assert.equal((await app.fetch('/readyz')).status, 200)
})

test('a storage that does not answer in time is not ready', async () => {
  ping = () => new Promise<void>(() => {})
  const start = performance.now()
  await assertErrorAnswer(await app.fetch('/readyz'), 503, 50302)
  assert.ok(performance.now() - start < 4_000)
})
