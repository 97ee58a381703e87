import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { eventually } from '../../support/eventually.ts'
import { startAlteredApp } from '../../support/http/start-altered-app.ts'
import { requestText } from '../../support/http/wire.ts'
import { metricsOf, sumOf } from '../../support/metrics-text.ts'

const REQUESTS = 'plantstore_http_requests_total'

/** A service whose reads and creates wait until they are let on, and a client that asks it for something. */
async function startWaiting(t: TestContext, settings: Record<string, string> = {}) {
  const asked = Promise.withResolvers<void>()
  const letOn = Promise.withResolvers<void>()
  const wait = () => {
    asked.resolve()
    return letOn.promise
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
    letOn: letOn.resolve,
    linesOf: (path: string) => app.log.filter((line) => line.path === path),
    /** Sends a request, and gives its connection when it waits. */
    async ask(text: string): Promise<Socket> {
      const socket = connect({ port: app.port, host: '127.0.0.1' })
      t.after(() => socket.destroy())
      socket.write(text)
      await asked.promise
      return socket
    },
    /** Goes away, and waits until the service has noticed. */
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

test('a request whose client gave up is told as slow once it is over, and counted as no response', async (t) => {
  const { app, ask, leave, letOn, linesOf } = await startWaiting(t)
  await leave(await ask(CREATE))
  assert.deepEqual(linesOf('/plants'), [])
  letOn()
  const [line, ...others] = await eventually(() => linesOf('/plants').length > 0 && linesOf('/plants'))
  assert.deepEqual(others, [])
  assert.deepEqual([line?.level, line?.msg, line?.method, line?.dropped], [40, 'slow request', 'POST', true])
  assert.ok(!('status' in (line ?? {})))
  assert.equal(sumOf(await metricsOf(app), REQUESTS, { route: '/plants' }), 0)
})

test('a request whose client gave up leaves no line where it was quick', async (t) => {
  const { app, ask, leave, letOn, linesOf } = await startWaiting(t, { PLANTSTORE_SLOW_REQUEST_MS: '60000' })
  await leave(await ask(CREATE))
  letOn()
  await eventually(async () => (await app.fetch('/plants/1')).ok)
  assert.deepEqual(linesOf('/plants'), [])
})

test('a body that breaks off with its client is no refusal', async (t) => {
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

test('a long response that breaks off is counted and logged as cut', async (t) => {
  const { app, ask, letOn, linesOf } = await startWaiting(t)
  const socket = await ask(requestText('GET /plants'))
  letOn()
  await new Promise((resolve) => socket.once('readable', resolve))
  socket.resetAndDestroy()
  const [line] = await eventually(() => linesOf('/plants').length > 0 && linesOf('/plants'))
  assert.deepEqual([line?.msg, line?.status, line?.dropped], ['slow request', 200, true])
  assert.equal(sumOf(await metricsOf(app), REQUESTS, { route: '/plants', status: '200' }), 1)
})
