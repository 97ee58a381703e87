import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertErrorAnswer } from '../support/error-body.ts'
import { eventually } from '../support/eventually.ts'
import { startAlteredApp } from '../support/start-altered-app.ts'
import { startApp } from '../support/start-app.ts'

const app = await startApp({ after })

const without = { headers: { authorization: '' } }

test('/healthz and /readyz answer without a token, and tell nothing but that', async () => {
  for (const [path, status] of [
    ['/healthz', 'up'],
    ['/readyz', 'ready'],
  ] as const) {
    const answer = await app.fetch(path, without)
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8')
    assert.deepEqual(await answer.json(), { status })
  }
})

test('a draining service is up and not ready', async (test) => {
  const draining = await startAlteredApp(test, { isDraining: () => true })
  assert.equal((await draining.fetch('/healthz')).status, 200)
  const answer = await draining.fetch('/readyz')
  assert.equal(answer.headers.get('retry-after'), '5')
  await assertErrorAnswer(answer, 503, 50303)
})

test('a service whose storage fails is up and not ready, until it works again', async (test) => {
  let isBroken = true
  const broken = await startAlteredApp(test, {
    storage: (real) => ({
      ...real,
      async ping() {
        if (isBroken) throw new Error('disk I/O error')
        await real.ping()
      },
    }),
  })
  assert.equal((await broken.fetch('/healthz')).status, 200)
  await assertErrorAnswer(await broken.fetch('/readyz'), 503, 50302)
  const line = await eventually(() => broken.log.find(({ error }) => error === 50302))
  assert.match(String(line.cause), /disk I\/O error/)
  isBroken = false
  assert.equal((await broken.fetch('/readyz')).status, 200)
})

test('a storage that does not answer in time is not ready', async (test) => {
  const stuck = await startAlteredApp(test, {
    storage: (real) => ({ ...real, ping: () => new Promise<void>(() => {}) }),
  })
  const start = performance.now()
  await assertErrorAnswer(await stuck.fetch('/readyz'), 503, 50302)
  assert.ok(performance.now() - start < 4_000)
})
