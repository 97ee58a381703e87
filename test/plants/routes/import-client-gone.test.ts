import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { eventually } from '../../support/eventually.ts'
import { startAlteredApp } from '../../support/http/start-altered-app.ts'
import { startApp, TOKEN } from '../../support/http/start-app.ts'

/** Connects and sends an import of so many rows that fail. */
function sendImport(port: number, rows: number) {
  const body = gzipSync('{}\n'.repeat(rows))
  const head = [
    'POST /plants/import HTTP/1.1',
    'Host: a',
    'Connection: close',
    `Authorization: Bearer ${TOKEN}`,
    'Content-Type: application/x-ndjson',
    'Content-Encoding: gzip',
    `Content-Length: ${body.length}`,
  ]
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  socket.write(body)
  return socket
}

test('an import whose client has gone ends, however much is left of its compressed body', async (t) => {
  let isClosed = false
  const app = await startAlteredApp(t, {
    storage: (real) => ({
      ...real,
      plants: {
        ...real.plants,
        openImport(options) {
          const importing = real.plants.openImport(options)
          return {
            ...importing,
            add: (plants) => importing.add(plants),
            async close() {
              isClosed = true
              await importing.close()
            },
          }
        },
      },
    }),
  })
  for (const leave of ['destroy', 'resetAndDestroy'] as const) {
    isClosed = false
    const socket = sendImport(app.port, 6_000_000)
    await new Promise((resolve) => setTimeout(resolve, 300))
    assert.equal(isClosed, false)
    const startMs = performance.now()
    socket[leave]()
    await eventually(() => isClosed, 60_000)
    const tookMs = performance.now() - startMs
    // All of it takes 20 seconds and more.
    assert.ok(tookMs < 8_000, `${leave}: ${tookMs} ms`)
  }
})

test('an import continues whose client has closed its side only, and reads the report', async (t) => {
  const app = await startApp(t)
  const socket = sendImport(Number(new URL(app.url).port), 200_000)
  socket.end()
  const [, ...interim] = (await text(socket)).split('HTTP/1.1 ')
  const final = interim.pop() ?? ''
  assert.ok(final.startsWith('200 OK\r\n'), final)
  assert.match(final, /"failed":200000/)
  for (const response of interim) assert.equal(response, '100 Continue\r\n\r\n')
  assert.ok(interim.length > 0)
})
