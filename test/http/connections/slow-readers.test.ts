import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { dropSlowReaders, endWithLong } from '../../../src/http/connections/slow-readers.ts'
import { eventually } from '../../support/eventually.ts'
import { startApp } from '../../support/http/start-app.ts'
import { requestText } from '../../support/http/wire.ts'

/** More than the buffers between two sockets hold. */
const LONG = Buffer.alloc(24 * 1024 * 1024, 'x')

/** A connection to a port that is paused until `resume`. */
async function ask(t: TestContext, port: number, text: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' })
  t.after(() => void socket.destroy())
  socket.on('error', () => {})
  socket.pause()
  await once(socket, 'connect')
  socket.write(text)
  return socket
}

/** A server whose responses are long, with the reasons of the connections that it dropped. */
async function startLong(t: TestContext, limits: { sendTimeoutMs: number; unsentBytesMax?: number }) {
  const sockets = new Set<Socket>()
  const dropped: string[] = []
  const server = createServer((_request, response) => {
    response.setHeader('content-length', LONG.length)
    endWithLong(response, LONG)
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  const stop = dropSlowReaders({ sockets, ...limits, onDropped: (reason) => dropped.push(reason) })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => {
    stop()
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, sockets, dropped }
}

test('a connection whose responses are not read is dropped after a timeout, and others are served', async (t) => {
  const app = await startApp(t, { PLANTSTORE_SEND_TIMEOUT_MS: '200' })
  const name = 'x'.repeat(900_000)
  for (let id = 0; id < 4; id++) await app.send('POST', '/plants', `{"id":${id},"name":"${name}"}`)
  const socket = await ask(t, app.port, requestText('GET /plants').repeat(8))
  const connections = async () =>
    Number(
      /^plantstore_dropped_connections_total.*not read"\} (\d+)/m.exec(
        await (await app.fetch('/metrics')).text(),
      )?.[1],
    )
  await eventually(async () => (await connections()) === 1, 20_000)
  assert.ok(
    app.log.some(
      ({ msg, dropped }) => msg === 'connections dropped' && Object.hasOwn(dropped as object, 'unread'),
    ),
  )
  let bytes = 0
  socket.on('data', (chunk) => {
    bytes += chunk.length
  })
  socket.resume()
  await once(socket, 'close')
  assert.ok(bytes < 8 * 4 * name.length, 'it was dropped before the end')
  assert.equal((await app.fetch('/plants?limit=1')).status, 200)
})

test('a client that reads slowly but steadily gets all of a long response', async (t) => {
  const { port, dropped } = await startLong(t, { sendTimeoutMs: 3_000 })
  const socket = await ask(t, port, requestText('GET /', { Connection: 'close' }))
  let bytes = 0
  socket.on('data', (chunk) => {
    bytes += chunk.length
  })
  for (let round = 0; round < 8; round++) {
    socket.resume()
    await eventually(() => bytes > (round + 1) * 2 * 1024 * 1024)
    socket.pause()
    await new Promise((resolve) => setTimeout(resolve, 450))
  }
  socket.resume()
  await once(socket, 'close')
  assert.ok(bytes > LONG.length)
  assert.deepEqual(dropped, [])
})

test('if the unsent bytes of all clients exceed the limit, those that have waited longest are dropped', async (t) => {
  const { port, sockets, dropped } = await startLong(t, {
    sendTimeoutMs: 60_000,
    unsentBytesMax: 2.5 * LONG.length,
  })
  for (let count = 0; count < 6; count++) await ask(t, port, requestText('GET /'))
  await eventually(() => dropped.length >= 3 && sockets.size <= 3, 10_000)
  assert.ok(dropped.every((reason) => reason === 'unsent'))
  const again = await ask(t, port, requestText('GET /', { Connection: 'close' }))
  let bytes = 0
  again.on('data', (chunk) => {
    bytes += chunk.length
  })
  again.resume()
  await once(again, 'close')
  assert.ok(bytes > LONG.length)
})
