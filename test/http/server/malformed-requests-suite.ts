import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import type { Environment } from '../../../src/config/setting.ts'
import type { ErrorCode } from '../../../src/errors.ts'
import { assertErrorResponse } from '../../support/http/error-body.ts'
import { startApp, TOKEN } from '../../support/http/start-app.ts'
import { openWire, requestText } from '../../support/http/wire.ts'

const PLANT = '{"id":666,"name":"smuggled"}'
const LENGTH = String(PLANT.length)
const AUTHORIZATION = `Authorization: Bearer ${TOKEN}`
const GOOD = requestText('POST /plants', {}, PLANT)

/** A create with these lines in the place of Host and Content-Length. */
const withLines = (...lines: string[]) =>
  `POST /plants HTTP/1.1\r\n${AUTHORIZATION}\r\nContent-Type: application/json\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`

const CHUNKED = `${PLANT.length.toString(16)}\r\n${PLANT}\r\n0\r\n\r\n`

const MALFORMED: Record<string, string> = {
  'a line ending of LF alone': GOOD.replaceAll('\r\n', '\n'),
  'one bare LF among the fields': GOOD.replace('\r\nHost', '\nHost'),
  'a bare CR in a field': withLines('Host: a', `Content-Length: ${LENGTH}`, 'X: a\rb') + PLANT,
  'a folded field': withLines('Host: a', 'X: a\r\n b', `Content-Length: ${LENGTH}`) + PLANT,
  'a space before the colon': withLines('Host: a', `Content-Length : ${LENGTH}`) + PLANT,
  'a field without a colon': withLines('Host: a', 'X', `Content-Length: ${LENGTH}`) + PLANT,
  'a field without a name': withLines('Host: a', ': x', `Content-Length: ${LENGTH}`) + PLANT,
  'U+0000 in a field': withLines('Host: a', 'X: a\0b', `Content-Length: ${LENGTH}`) + PLANT,
  'a space before the first field': GOOD.replace('\r\nHost', '\r\n Host'),
  'no Host': withLines(`Content-Length: ${LENGTH}`) + PLANT,
  'two Hosts': withLines('Host: a', 'Host: b', `Content-Length: ${LENGTH}`) + PLANT,
  'the same Host twice': withLines('Host: a', 'Host: a', `Content-Length: ${LENGTH}`) + PLANT,
  'a Host with a path': withLines('Host: a/b', `Content-Length: ${LENGTH}`) + PLANT,
  'a Host with a space': withLines('Host: a b', `Content-Length: ${LENGTH}`) + PLANT,
  'a Host with a user': withLines('Host: user@a', `Content-Length: ${LENGTH}`) + PLANT,
  'two lengths': withLines('Host: a', `Content-Length: ${LENGTH}`, 'Content-Length: 0') + PLANT,
  'a list of lengths': withLines('Host: a', `Content-Length: ${LENGTH}, ${LENGTH}`) + PLANT,
  'a signed length': withLines('Host: a', `Content-Length: +${LENGTH}`) + PLANT,
  'a negative length': withLines('Host: a', 'Content-Length: -1') + PLANT,
  'a hexadecimal length': withLines('Host: a', 'Content-Length: 0x1c') + PLANT,
  'a length above every limit': withLines('Host: a', `Content-Length: ${'9'.repeat(40)}`) + PLANT,
  'a length beside chunks':
    withLines('Host: a', `Content-Length: ${LENGTH}`, 'Transfer-Encoding: chunked') + CHUNKED,
  'chunks beside a length': withLines('Host: a', 'Transfer-Encoding: chunked', 'Content-Length: 5') + CHUNKED,
  'an unknown transfer coding': withLines('Host: a', 'Transfer-Encoding: gzip, chunked') + CHUNKED,
  'a transfer coding after chunked': withLines('Host: a', 'Transfer-Encoding: chunked, gzip') + CHUNKED,
  'the coding identity': withLines('Host: a', 'Transfer-Encoding: identity') + CHUNKED,
  'chunked twice': withLines('Host: a', 'Transfer-Encoding: chunked', 'Transfer-Encoding: chunked') + CHUNKED,
  'a coding that only looks like chunked': withLines('Host: a', 'Transfer-Encoding: xchunked') + CHUNKED,
  'a coding with a parameter': withLines('Host: a', 'Transfer-Encoding: chunked;q=1') + CHUNKED,
  'chunks in HTTP/1.0':
    withLines('Host: a', 'Transfer-Encoding: chunked').replace('HTTP/1.1', 'HTTP/1.0') + CHUNKED,
  'an invalid chunk size': `${withLines('Host: a', 'Transfer-Encoding: chunked')}1g\r\n${PLANT}\r\n0\r\n\r\n`,
  'a chunk size with a sign': `${withLines('Host: a', 'Transfer-Encoding: chunked')}+1c\r\n${PLANT}\r\n0\r\n\r\n`,
  'a chunk longer than its size': `${withLines('Host: a', 'Transfer-Encoding: chunked')}5\r\n${PLANT}\r\n0\r\n\r\n`,
  'a chunk with a bare LF':
    withLines('Host: a', 'Transfer-Encoding: chunked') + CHUNKED.replaceAll('\r\n', '\n'),
  'HTTP/2.0 in the request line': GOOD.replace('HTTP/1.1', 'HTTP/2.0'),
  'HTTP/0.9 in the request line': GOOD.replace('HTTP/1.1', 'HTTP/0.9'),
  'HTTP/1.2 in the request line': GOOD.replace('HTTP/1.1', 'HTTP/1.2'),
  'HTTP/3 in the request line': GOOD.replace('HTTP/1.1', 'HTTP/3'),
  'HTTP in lower case': GOOD.replace('HTTP/1.1', 'http/1.1'),
  'no version, as in HTTP/0.9': 'GET /plants\r\n\r\n',
  'another protocol': GOOD.replace('HTTP/1.1', 'ICAP/1.0'),
  'the greeting of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'an unknown method': GOOD.replace('POST', 'BREW'),
  'a method in lower case': GOOD.replace('POST', 'post'),
  'a space in the target': GOOD.replace('/plants', '/plants x'),
  'a control character in the target': GOOD.replace('/plants', '/plants\x01'),
  'the target * without OPTIONS': GOOD.replace('/plants', '*'),
  'a query that is not percent-encoded': GOOD.replace('/plants', '/plants?tag=\xc3\x97'),
  'a target that is not a path': GOOD.replace('/plants', 'plants'),
  'binary garbage': Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)).toString('latin1'),
}

/**
 * Valid and malformed requests, with these settings. Each malformed one would create the plant 666 if the service
 * mistook it for something else.
 */
export async function malformedRequestsSuite(settings: Environment = {}): Promise<void> {
  const app = await startApp({ after }, settings)
  const open = (test: TestContext) =>
    openWire(test, app.port, { isSecure: settings.PLANTSTORE_TLS_CERT !== undefined })

  async function assertRejected(
    test: TestContext,
    bytes: string,
    status = 400,
    code: ErrorCode = 40000,
  ): Promise<void> {
    const wire = await open(test)
    // The next request would be executed by a server that sees the end of the malformed one elsewhere.
    wire.send(bytes + GOOD)
    const response = await wire.response()
    await assertErrorResponse(response, status, code)
    assert.equal(response.headers.connection, 'close')
    await wire.assertClosed()
    const look = await app.fetch('/plants/666')
    await assertErrorResponse(look, 404, 40402)
  }

  for (const [what, bytes] of Object.entries(MALFORMED)) {
    test(`${what} is rejected with 400, and nothing after it is executed`, (test) =>
      assertRejected(test, bytes))
  }

  test('the response to an unencoded target says how to encode it', async (test) => {
    for (const [target, advice] of [
      ['/plants?tag=\xc3\x97', /percent-encoded UTF-8: × is %C3%97/],
      ['/pl\xc3\xa4nts', /percent-encoded UTF-8: × is %C3%97/],
      ['/plants?q=Acer rubrum', /A space in the target is %20/],
      ['*', /The target \* is for OPTIONS only/],
    ] as const) {
      const wire = await open(test)
      wire.send(requestText(`GET ${target}`))
      const response = await wire.response()
      await assertErrorResponse(response, 400, 40000)
      assert.match(response.body, advice)
    }
  })

  test('header fields and targets over 16 KiB are rejected with 431', async (test) => {
    await assertRejected(test, withLines('Host: a', `X: ${'x'.repeat(16 * 1024)}`), 431, 43101)
    await assertRejected(
      test,
      withLines('Host: a', ...Array.from({ length: 3000 }, () => 'X: y')),
      431,
      43101,
    )
    await assertRejected(test, requestText(`GET /plants?q=${'x'.repeat(17 * 1024)}`), 431, 43101)
    const response = await app.fetch('/healthz', { headers: { x: 'x'.repeat(14 * 1024) } })
    assert.equal(response.status, 200)
  })

  test('no malformed request logs a failure of the service', () => {
    assert.deepEqual(
      app.log.filter(({ level }) => Number(level) >= 50),
      [],
    )
  })

  test('a valid request without a token gets 401, and its connection stays usable', async (test) => {
    const wire = await open(test)
    wire.send(requestText('GET /plants', { Authorization: '' }))
    await assertErrorResponse(await wire.response(), 401, 40101)
    await wire.assertUsable()
  })

  test('unusual but valid requests are served', async (test) => {
    const wire = await open(test)
    const sound: Record<string, string> = {
      'an empty Host': `GET /healthz HTTP/1.1\r\nHost:\r\n\r\n`,
      'an address and a port': requestText('GET /healthz', { Host: '[::1]:8080' }),
      'field names in any case': requestText('GET /healthz', { hOST: 'a', Host: '', 'x-REQUEST-id': 'a' }),
      'spaces around a value': requestText('GET /healthz', { Host: ' \t a \t ' }),
      'an absolute target (RFC 9112 §3.2.2)': requestText('GET http://plants.test/healthz'),
      'an absolute target with a query': requestText('GET http://plants.test/plants?limit=1'),
      'a query on a page': requestText('GET /?from=mail'),
    }
    for (const [what, bytes] of Object.entries(sound)) {
      wire.send(bytes)
      assert.equal((await wire.response()).status, 200, what)
    }
    wire.send(requestText('POST http://plants.test/tags'))
    const rejected = await wire.response()
    await assertErrorResponse(rejected, 405, 40501)
    assert.equal(rejected.headers.allow, 'GET, HEAD, OPTIONS')
    wire.send(requestText('OPTIONS *'))
    const { status, headers } = await wire.response()
    assert.equal(status, 204)
    assert.match(headers.allow ?? '', /DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT/)
    await wire.assertUsable()
  })
}
