import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import fastify, { type FastifyReply } from 'fastify'
import { readConfig } from '../../../src/config/read-config.ts'
import { type ResponseStream, streamResponse } from '../../../src/http/response/stream-response.ts'
import { createHttpServer } from '../../../src/http/server/http-server.ts'
import { eventually } from '../../support/eventually.ts'

const PIECE = 'x'.repeat(64 * 1024)

/** A server that responds `/` by `response`, and a request to it on a connection of its own. */
async function serve(
  t: TestContext,
  response: (reply: FastifyReply) => Promise<void>,
  { sendTimeoutMs }: { sendTimeoutMs: number } = readConfig({}, {}),
) {
  const limits = { ...readConfig({}, {}), sendTimeoutMs }
  const app = fastify({ serverFactory: (handler) => createHttpServer(handler, { limits }) })
  app.decorate('recordRequest', () => {})
  app.get('/', async (_request, reply) => response(reply))
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  t.after(() => app.close())
  return {
    url,
    /** Asks, and reads nothing. */
    ask(): ReturnType<typeof connect> {
      const socket = connect(Number(new URL(url).port), '127.0.0.1')
      t.after(() => void socket.destroy())
      socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
      socket.on('error', () => {})
      socket.pause()
      return socket
    },
  }
}

/** Sends without end, and fulfils with what ends it. */
async function sendUntilItFails(response: ResponseStream): Promise<unknown> {
  try {
    for (;;) await response.send(PIECE)
  } catch (error) {
    return error
  }
}

test('a response of any length arrives complete, with its header fields', async (t) => {
  const { url } = await serve(t, async (reply) => {
    const response = streamResponse(reply, 'text/plain', { fields: ['vary', 'Accept'] })
    for (let count = 0; count < 200; count++) await response.send(PIECE)
    response.end()
  })
  const response = await fetch(url, { headers: { 'x-request-id': 'abc' } })
  assert.equal(response.headers.get('content-type'), 'text/plain')
  assert.equal(response.headers.get('vary'), 'Accept')
  assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
  assert.equal(typeof response.headers.get('x-request-id'), 'string')
  assert.equal((await response.text()).length, 200 * PIECE.length)
  const head = await fetch(url, { method: 'HEAD' })
  assert.deepEqual([head.headers.get('content-type'), await head.text()], ['text/plain', ''])
})

test('nothing more is sent while the client does not read, and it is dropped after a timeout', async (t) => {
  const outcome = Promise.withResolvers<unknown>()
  const { ask } = await serve(
    t,
    async (reply) => {
      const response = streamResponse(reply, 'text/plain')
      outcome.resolve(await sendUntilItFails(response))
    },
    { sendTimeoutMs: 100 },
  )
  const socket = ask()
  const { code, message } = (await outcome.promise) as { code: number; message: string }
  assert.deepEqual([code, message], [40801, 'The client did not read the response in time.'])
  socket.resume()
  await new Promise((resolve) => socket.once('close', resolve))
})

test('a disconnected client is noticed', async (t) => {
  const outcome = Promise.withResolvers<unknown>()
  let response: ResponseStream | undefined
  const { ask } = await serve(t, async (reply) => {
    response = streamResponse(reply, 'text/plain')
    outcome.resolve(await sendUntilItFails(response))
  })
  const socket = ask()
  await eventually(() => response)
  socket.destroy()
  assert.equal(((await outcome.promise) as { code: number }).code, 40000)
  await assert.rejects(Promise.resolve(response?.send('x')), { code: 40000 })
})

test('a complete response is dropped, too, if its end is not read', async (t) => {
  const isOver = Promise.withResolvers<boolean>()
  const { ask } = await serve(
    t,
    async (reply) => {
      reply.raw.once('close', () => isOver.resolve(reply.raw.writableFinished))
      const response = streamResponse(reply, 'text/plain')
      for (let count = 0; count < 200; count++) response.send(PIECE)?.catch(() => {})
      response.end()
    },
    { sendTimeoutMs: 100 },
  )
  ask()
  assert.equal(await isOver.promise, false)
})

test('the client can see that an aborted response is incomplete', async (t) => {
  const { url } = await serve(t, async (reply) => {
    const response = streamResponse(reply, 'text/plain')
    await response.send('some')
    response.abort()
  })
  await assert.rejects(async () => (await fetch(url)).text(), TypeError)
})
