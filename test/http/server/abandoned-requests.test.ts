import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { eventually } from '../../support/eventually.ts'
import { startAlteredApp } from '../../support/http/start-altered-app.ts'
import { requestText } from '../../support/http/wire.ts'
import { metricsOf, sumOf } from '../../support/metrics-text.ts'

const REQUESTS = 'plantstore_http_requests_total'

/** A service whose reads and creates wait for `release`, and a client that sends it requests. */
async function startWaiting(t: TestContext, settings: Record<string, string> = {}) {
  const asked = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const wait = () => {
    asked.resolve()
    return release.promise
  }
  const app = await startAlteredApp(t, {
    settings: { PLANTSTORE_LOG_LEVEL: 'info', PLANTSTORE_SLOW_REQUEST_MS: '0', ...settings },
    storage: (real) => ({
      ...real,
      plants: {
        ...real.plants,
        create: (...plant) => wait().then(() => real.plants.create(...plant)),
        list: () => {
          const plant = { id: 1n, name: 'n'.repeat(16_000_000), createdAtMs: 0, updatedAtMs: 0, version: 1 }
          return wait().then(() => ({ plants: [plant], hasMore: false }))
        },
      },
    }),
  })
  return {
    app,
    release: release.resolve,
    linesOf: (path: string) => app.log.filter((line) => line.path === path),
    /** Sends a request, and returns its connection once the request waits. */
    async ask(text: string): Promise<Socket> {
      const socket = connect({ port: app.port, host: '127.0.0.1' })
      t.after(() => socket.destroy())
      socket.write(text)
      await asked.promise
      return socket
    },
    /** Disconnects, and waits until the service has noticed. */
    async leave(socket: Socket): Promise<void> {
      socket.resetAndDestroy()
      await eventually(async () => {
        const open = sumOf(await metricsOf(app), 'plantstore_http_connections')
        return open === 1
      })
    },
  }
}

const CREATE = requestText('POST /plants', {}, '{"id":1,"name":"Oak"}')

test('an abandoned request is logged as slow at its end, and not counted as a response', async (t) => {
  const { app, ask, leave, release, linesOf } = await startWaiting(t)
  await leave(await ask(CREATE))
  assert.deepEqual(linesOf('/plants'), [])
  release()
  const [line, ...others] = await eventually(() => linesOf('/plants').length > 0 && linesOf('/plants'))
  assert.deepEqual(others, [])
  assert.deepEqual([line?.level, line?.msg, line?.method, line?.dropped], [40, 'slow request', 'POST', true])
  assert.ok(!('status' in (line ?? {})))
  assert.equal(sumOf(await metricsOf(app), REQUESTS, { route: '/plants' }), 0)
})

test('an abandoned request that was quick logs no line', async (t) => {
  const { app, ask, leave, release, linesOf } = await startWaiting(t, { PLANTSTORE_SLOW_REQUEST_MS: '60000' })
  await leave(await ask(CREATE))
  release()
  await eventually(async () => (await app.fetch('/plants/1')).ok)
  assert.deepEqual(linesOf('/plants'), [])
})

test('a body that is aborted by its client is not a rejection', async (t) => {
  const { app, linesOf } = await startWaiting(t, { PLANTSTORE_LOG_LEVEL: 'debug' })
  const socket = connect({ port: app.port, host: '127.0.0.1' })
  socket.write(requestText('POST /plants', { Expect: '100-continue' }, '{}').slice(0, -1))
  // It is asked for its body.
  await new Promise((resolve) => socket.once('data', resolve))
  socket.resetAndDestroy()
  const [line] = await eventually(() => linesOf('/plants').length > 0 && linesOf('/plants'))
  assert.deepEqual([line?.dropped, line?.error], [true, undefined])
  assert.equal(sumOf(await metricsOf(app), 'plantstore_rejections_total'), 0)
})

test('an aborted response is counted, and logged as dropped', async (t) => {
  const { app, ask, release, linesOf } = await startWaiting(t)
  const socket = await ask(requestText('GET /plants'))
  release()
  await new Promise((resolve) => socket.once('readable', resolve))
  socket.resetAndDestroy()
  const [line] = await eventually(() => linesOf('/plants').length > 0 && linesOf('/plants'))
  assert.deepEqual([line?.msg, line?.status, line?.dropped], ['slow request', 200, true])
  assert.equal(sumOf(await metricsOf(app), REQUESTS, { route: '/plants', status: '200' }), 1)
})
