import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import type { Environment } from '../../../src/config/setting.ts'
import { eventually } from '../../support/eventually.ts'
import { assertErrorResponse } from '../../support/http/error-body.ts'
import { startApp } from '../../support/http/start-app.ts'
import { openWire, requestText } from '../../support/http/wire.ts'

/**
 * The behaviour of connections, byte for byte, with these settings. Single requests are in
 * malformed-requests-suite.ts.
 */
export async function httpServerSuite(settings: Environment = {}): Promise<void> {
  const isSecure = settings.PLANTSTORE_TLS_CERT !== undefined
  const app = await startApp(
    { after },
    { ...settings, PLANTSTORE_HEADERS_TIMEOUT_MS: '300', PLANTSTORE_REQUEST_TIMEOUT_MS: '600' },
  )
  const open = (test: TestContext) => openWire(test, app.port, { isSecure })

  let lastId = 0
  const nextId = () => ++lastId
  const createText = (id: number, headers: Record<string, string> = {}) =>
    requestText('POST /plants', headers, `{"id":${id},"name":"plant ${id}"}`)

  async function isStored(id: number): Promise<boolean> {
    const response = await app.fetch(`/plants/${id}`)
    await response.arrayBuffer()
    return response.status === 200
  }

  test('pipelined requests get their responses in order', async (test) => {
    const wire = await open(test)
    const paths = Array.from(
      { length: 30 },
      (_, at) => ['/healthz', '/plants?limit=5', '/nothing', '/tags'][at % 4],
    )
    wire.send(...paths.map((path, at) => requestText(`GET ${path}`, { 'X-Request-Id': `r${at}` })))
    for (const at of paths.keys()) {
      const { status, headers } = await wire.response()
      assert.equal(headers['x-request-id'], `r${at}`)
      assert.equal(status, at % 4 === 2 ? 404 : 200)
    }
    await wire.assertUsable()
  })

  test('pipelined requests see the effects of those before them', async (test) => {
    const wire = await open(test)
    const id = nextId()
    const path = `/plants/${id}`
    wire.send(
      [
        requestText(`GET ${path}`),
        createText(id),
        requestText(`GET ${path}`),
        requestText(`GET ${path}`),
        createText(id),
        requestText(`PATCH ${path}`, {}, '{"name":"changed"}'),
        requestText(`GET ${path}`),
        requestText(`DELETE ${path}`),
        requestText(`HEAD ${path}`),
        createText(id),
      ].join(''),
    )
    assert.equal((await wire.response()).status, 404)
    assert.equal((await wire.response()).status, 200)
    assert.match((await wire.response()).body, new RegExp(`"name":"plant ${id}"`))
    assert.match((await wire.response()).body, new RegExp(`"name":"plant ${id}"`))
    await assertErrorResponse(await wire.response(), 400, 40901)
    assert.equal((await wire.response()).status, 200)
    assert.match((await wire.response()).body, /"name":"changed"/)
    assert.equal((await wire.response()).status, 204)
    assert.equal((await wire.response('HEAD')).status, 404)
    assert.equal((await wire.response()).status, 200)
    await wire.assertUsable()
  })

  test('no request after Connection: close is executed', async (test) => {
    const wire = await open(test)
    const [first, second] = [nextId(), nextId()]
    wire.send(createText(first, { Connection: 'close' }) + createText(second))
    const { status, headers } = await wire.response()
    assert.equal(status, 200)
    assert.equal(headers.connection, 'close')
    await wire.assertClosed()
    assert.deepEqual([await isStored(first), await isStored(second)], [true, false])
  })

  test('no request after a response that closes the connection is executed', async (test) => {
    const id = nextId()
    for (const bad of [
      requestText('GET /plants', { Host: '' }),
      requestText('GET /plants', { Host: 'a b' }),
      requestText('POST /plants', { Expect: '100-continue', 'Content-Length': '9', Authorization: '' }),
    ]) {
      const wire = await open(test)
      wire.send(bad + createText(id))
      const response = await wire.response()
      assert.ok(response.status >= 400)
      assert.equal(response.headers.connection, 'close')
      await wire.assertClosed()
    }
    assert.ok(!(await isStored(id)))
  })

  test('a create gets its response even if garbage follows, which gets one of its own', async (test) => {
    for (const garbage of ['\x16\x03\x01 no HTTP\r\n\r\n', 'GET / HTTP/9\r\n\r\n', `${'x'.repeat(20_000)}`]) {
      const wire = await open(test)
      const id = nextId()
      wire.send(createText(id) + garbage)
      assert.equal((await wire.response()).status, 200, JSON.stringify(garbage.slice(0, 20)))
      await assertErrorResponse(await wire.response(), 400, 40000)
      await wire.assertClosed()
      assert.ok(await isStored(id))
    }
  })

  test('a client that half-closes after its request still gets the response', async (test) => {
    const wire = await open(test)
    const id = nextId()
    wire.send(createText(id))
    wire.end()
    assert.equal((await wire.response()).status, 200)
    await wire.assertClosed()
  })

  test('an HTTP/1.0 request gets a response, and its connection is closed', async (test) => {
    const wire = await open(test)
    const id = nextId()
    wire.send(requestText('GET /healthz').replace('HTTP/1.1', 'HTTP/1.0') + createText(id))
    assert.equal((await wire.response()).status, 200)
    await wire.assertClosed()
    assert.ok(!(await isStored(id)))
  })

  test('an empty line before a request is ignored (RFC 9112 §2.2)', async (test) => {
    const wire = await open(test)
    wire.send(`\r\n${requestText('GET /healthz')}`)
    assert.equal((await wire.response()).status, 200)
    await wire.assertUsable()
  })

  test('a request that does not arrive in time gets 408, and its connection is closed', async (test) => {
    const [silent, slowHeaders, slowBody, slowSecond] = await Promise.all([
      open(test),
      open(test),
      open(test),
      open(test),
    ])
    const id = nextId()
    slowHeaders.send('POST /plants HTTP/1.1\r\nHost: a\r\nX: ')
    const half = createText(id).slice(0, -5)
    slowBody.send(half)
    const stored = nextId()
    slowSecond.send(createText(stored))
    assert.equal((await slowSecond.response()).status, 200)
    slowSecond.send(half)
    for (const wire of [slowHeaders, slowBody, slowSecond]) {
      await assertErrorResponse(await wire.response(), 408, 40801)
      await wire.assertClosed()
    }
    assert.deepEqual([await isStored(id), await isStored(stored)], [false, true])
    // It had no request, so it gets no response.
    silent.end()
    await silent.assertClosed()
  })

  test('a rejected request whose body does not arrive is closed at the usual timeout', async (test) => {
    const wire = await open(test)
    wire.send(requestText('POST /plants', { Authorization: '', 'Content-Length': '1000' }))
    await assertErrorResponse(await wire.response(), 401, 40101)
    await wire.assertClosed()
  })

  test('CONNECT, an upgrade and a TLS handshake get no tunnel', async (test) => {
    const connecting = await open(test)
    const id = nextId()
    connecting.send(`CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n${createText(id)}`)
    await assertErrorResponse(await connecting.response(), 405, 40501)
    await connecting.assertClosed()
    assert.ok(!(await isStored(id)))

    for (const protocol of ['websocket', 'h2c', 'TLS/1.3']) {
      for (const text of [requestText('GET /plants/404404'), createText(nextId())]) {
        const upgrading = await open(test)
        const lostId = nextId()
        const asked = text.replace('\r\n', `\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n`)
        // The request after it is in the same segment, and must not wait for a response for ever.
        upgrading.send(asked + createText(lostId))
        const response = await upgrading.response()
        if (text.startsWith('GET')) await assertErrorResponse(response, 404, 40402)
        else assert.equal(response.status, 200)
        assert.equal(response.headers.connection, 'close')
        await upgrading.assertClosed()
        assert.ok(!(await isStored(lostId)))
      }
    }

    const greeting = await open(test)
    greeting.send(Buffer.from('160301020001fc0303', 'hex'))
    await assertErrorResponse(await greeting.response(), 400, 40000)
    await greeting.assertClosed()
  })

  test('a request that its client aborts stores nothing and logs no failure', async (test) => {
    const ids: number[] = []
    for (let count = 0; count < 10; count++) {
      const wire = await open(test)
      const id = nextId()
      ids.push(id)
      const text = createText(id)
      wire.send(text.slice(0, text.length - 1 - count * 5))
      wire.end()
      await assertErrorResponse(await wire.response(), 400, 40000)
      await wire.assertClosed()
    }
    for (const id of ids) assert.ok(!(await isStored(id)))
    assert.equal(app.log.filter(({ level }) => Number(level) >= 50).length, 0, JSON.stringify(app.log))
  })

  test('a client that pipelines endlessly is dropped, and others are served', async (test) => {
    const wire = await open(test)
    wire.send(...Array.from({ length: 5_000 }, () => createText(nextId())))
    await eventually(() => wire.isClosed)
    assert.equal((await app.fetch('/plants?limit=1')).status, 200)
  })

  test('a request timeout shorter than the headers timeout applies to header fields, too', async (test) => {
    const hasty = await startApp(test, { ...settings, PLANTSTORE_REQUEST_TIMEOUT_MS: '200' })
    const wire = await openWire(test, hasty.port, { isSecure })
    wire.send('GET /healthz HTTP/1.1\r\n')
    await assertErrorResponse(await wire.response(), 408, 40801)
  })
}
