import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { CHUNK_BYTES_MAX, streamBody } from '../../../src/http/request/stream-body.ts'

const PACKED = gzipSync(Buffer.alloc(200 * CHUNK_BYTES_MAX))

/** A request with that body as a server gets it, and its client. */
async function receivedRequest(t: TestContext, body: Buffer, headers: readonly string[]) {
  const server = createServer()
  t.after(() => server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const received = once(server, 'request') as Promise<[IncomingMessage, ServerResponse]>
  const client: Socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  t.after(() => client.destroy())
  client.write(`${['POST / HTTP/1.1', 'Host: a', ...headers].join('\r\n')}\r\n\r\n`)
  client.write(body)
  const [raw, response] = await received
  return { client, raw, response }
}

const options = (response: ServerResponse) => ({
  response,
  silenceMs: 10_000,
  signal: new AbortController().signal,
  recheckToken: (done: () => void) => done(),
})

test('the rest of a body is discarded once its client has disconnected, however much has arrived', async (t) => {
  const plain = Buffer.alloc(8 * CHUNK_BYTES_MAX)
  for (const [body, length, coding] of [
    [PACKED, PACKED.length, 'gzip'],
    [PACKED, PACKED.length + 1, 'gzip'],
    [plain, plain.length, 'identity'],
    [plain, plain.length + 1, 'identity'],
  ] as const) {
    const { client, raw, response } = await receivedRequest(t, body, [
      `Content-Length: ${length}`,
      `Content-Encoding: ${coding}`,
    ])
    let chunks = 0
    await assert.rejects(
      async () => {
        for await (const _ of streamBody(raw, options(response))) {
          if (++chunks > 1) continue
          const closed = new Promise((resolve) => raw.socket.once('close', resolve))
          client.resetAndDestroy()
          await closed
        }
      },
      { code: 40000 },
      `${length} bytes in ${coding}`,
    )
    assert.equal(chunks, 1, `${length} bytes in ${coding}`)
  }
})

test('other requests run between two chunks, also of a small body that is large once decompressed', async (t) => {
  const { raw, response } = await receivedRequest(t, PACKED, [
    `Content-Length: ${PACKED.length}`,
    'Content-Encoding: gzip',
  ])
  let turns = 0
  let chunks = 0
  let isOver = false
  const turn = () => {
    turns++
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  for await (const chunk of streamBody(raw, options(response))) {
    assert.ok(chunk.length <= CHUNK_BYTES_MAX)
    assert.ok(turns >= chunks, `${turns} turns before chunk ${chunks}`)
    chunks++
  }
  isOver = true
  assert.ok(chunks >= 200)
})

test('a client that sends below the minimum rate is dropped, and one that is fast enough is not', async (t) => {
  const { client, raw, response } = await receivedRequest(t, Buffer.from('a'), ['Content-Length: 100000'])
  const drip = setInterval(() => client.write('a'), 20)
  t.after(() => clearInterval(drip))
  const minimumRate = { bytes: 1_000, withinMs: 200 }
  const reading = async () => {
    for await (const _ of streamBody(raw, { ...options(response), minimumRate }));
  }
  await assert.rejects(reading, {
    code: 40801,
    message: 'Less than 1000 bytes of the body arrived in 0.2 seconds.',
  })
  const other = await receivedRequest(t, Buffer.from('a'), ['Content-Length: 40001'])
  for (let at = 1; at <= 40; at++) setTimeout(() => other.client.write(Buffer.alloc(1_000)), 10 * at)
  let bytes = 0
  const generous = { bytes: 100, withinMs: 100 }
  for await (const chunk of streamBody(other.raw, { ...options(other.response), minimumRate: generous }))
    bytes += chunk.length
  assert.equal(bytes, 40_001)
})
