import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { eventually } from '../../support/eventually.ts'
import { startApp } from '../../support/http/start-app.ts'
import { openWire } from '../../support/http/wire.ts'

/** Whether the service keeps a connection from that address of this machine. */
async function isKept(t: TestContext, port: number, from: string): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from })
  t.after(() => void socket.destroy())
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n')
  const [response] = await Promise.race([once(socket, 'data'), once(socket, 'close')])
  return String(response).startsWith('HTTP/1.1 200')
}

test('an address has a limited number of connections, and can open one when another ends', async (t) => {
  const app = await startApp(t, { PLANTSTORE_CONNECTIONS_PER_ADDRESS_MAX: '3' })
  const wires = [1, 2, 3].map(() => openWire(t, app.port, { from: '127.0.0.2' }))
  const [first] = await Promise.all(wires)
  await first?.assertUsable()
  assert.equal(await isKept(t, app.port, '127.0.0.2'), false)
  assert.equal(await isKept(t, app.port, '127.0.0.3'), true, 'others are served')
  const metrics = await (await app.fetch('/metrics')).text()
  assert.match(
    metrics,
    /^plantstore_dropped_connections_total\{reason="too many connections of an address"\} 1$/m,
  )
  const line = app.log.find(({ msg }) => msg === 'connections dropped')
  assert.deepEqual([line?.dropped, line?.clientAddress], [{ 'connections-of-address': 1 }, '127.0.0.2'])
  first?.end()
  await eventually(() => isKept(t, app.port, '127.0.0.2'))
})

test('trusted proxies are limited only by the total number of connections', async (t) => {
  const app = await startApp(t, {
    PLANTSTORE_CONNECTIONS_PER_ADDRESS_MAX: '2',
    PLANTSTORE_CONNECTIONS_MAX: '6',
    PLANTSTORE_TRUSTED_PROXIES: '127.0.0.2',
  })
  for (let count = 0; count < 5; count++) assert.ok(await isKept(t, app.port, '127.0.0.2'), `${count}`)
  assert.ok(await isKept(t, app.port, '127.0.0.3'))
  for (const from of ['127.0.0.2', '127.0.0.4']) assert.equal(await isKept(t, app.port, from), false)
})

test('0 allows any number of connections', async (t) => {
  const app = await startApp(t, {
    PLANTSTORE_CONNECTIONS_PER_ADDRESS_MAX: '0',
    PLANTSTORE_CONNECTIONS_MAX: '0',
  })
  for (let count = 0; count < 20; count++) assert.ok(await isKept(t, app.port, '127.0.0.2'))
})
