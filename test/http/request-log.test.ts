import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { AppError } from '../../src/errors.ts'
import { generateToken } from '../../src/tokens/token.ts'
import { eventually } from '../support/eventually.ts'
import { startAlteredApp } from '../support/http/start-altered-app.ts'
import { type StartedApp, startApp, TOKEN } from '../support/http/start-app.ts'
import { openWire, requestText } from '../support/http/wire.ts'
import { postgresMissing, startPostgres } from '../support/postgres/postgres-server.ts'

// At the level info, as by default.
const app = await startApp({ after })

/** The line about the request that got a response so; it is written behind the response. */
function lineOf(app: { log: StartedApp['log'] }, response: Response): Promise<Record<string, unknown>> {
  const id = response.headers.get('x-request-id')
  return eventually(() => app.log.find(({ requestId }) => requestId === id))
}

test('by default a successful request logs no line, and a rejected one does', async () => {
  await app.send('POST', '/plants', '{"id":1,"name":"a"}')
  await app.fetch('/plants')
  const rejected = await app.fetch('/plants/404?')
  const line = await lineOf(app, rejected)
  assert.equal(line.level, 30)
  assert.equal(line.msg, 'request rejected')
  assert.deepEqual([line.method, line.path, line.status, line.error], ['GET', '/plants/404', 404, 40402])
  assert.equal(typeof line.durationMs, 'number')
  assert.ok(!('cause' in line))
  assert.equal(app.log.filter(({ requestId }) => requestId !== undefined).length, 1)
})

test('an incomplete request logs a line with the id of its response, at most ten a second', async (t) => {
  const flooded = await startApp(t)
  const chunk = 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'
  const cases: [text: string, about: (string | undefined)[]][] = [
    ['hello\r\n\r\n', [undefined, undefined]],
    [`GET /healthz HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, [undefined, undefined]],
    [
      `POST /plants?q=a HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${TOKEN}\r\n${chunk}`,
      ['POST', '/plants'],
    ],
  ]
  for (const [text, about] of cases) {
    const wire = await openWire(t, flooded.port)
    wire.send(text)
    const { status, headers } = await wire.response()
    const id = headers['x-request-id']
    const lines = await eventually(() => {
      const found = flooded.log.filter(({ requestId }) => requestId === id)
      return found.length > 0 && found
    })
    assert.deepEqual(
      lines.map((line) => [line.msg, line.status, line.clientAddress, line.method, line.path]),
      [['request rejected', status, '127.0.0.1', ...about]],
    )
  }
  for (let sent = 0; sent < 40; sent++) {
    const wire = await openWire(t, flooded.port)
    wire.send('hello\r\n\r\n')
    await wire.response()
  }
  await eventually(() => flooded.log.some(({ msg }) => msg === 'more requests rejected'))
})

test('rejections without a valid token log ten lines a second, and the others are counted', async (t) => {
  const flooded = await startApp(t)
  // The token is known to be valid from here on, also from an address that sends too many wrong ones.
  await flooded.fetch('/plants')
  const bad = { headers: { authorization: 'Bearer none' } }
  const responses = await Promise.all([
    ...Array.from({ length: 100 }, () => flooded.fetch('/plants', bad)),
    ...Array.from({ length: 20 }, () => flooded.fetch('/plants/404')),
  ])
  const linesOf = (text: string) => flooded.log.filter(({ msg }) => msg === text)
  const suppressed = await eventually(() => {
    const counted = linesOf('more requests rejected').flatMap((line) =>
      Object.values(line.suppressed as object),
    )
    const lines = linesOf('request rejected').length
    return counted.reduce((sum, count) => sum + count, 0) + lines === responses.length && counted
  })
  assert.ok(suppressed.length > 0)
  assert.equal(linesOf('request rejected').filter(({ error }) => error === 40402).length, 20)
})

test('requests that fail as the database is down log ten lines a second, and the others are counted', {
  skip: postgresMissing,
}, async (t) => {
  const server = await startPostgres(t)
  const unavailable = await startApp(t, {
    PLANTSTORE_DATABASE: await server.createDatabase(),
    PLANTSTORE_POSTGRES_CONNECT_TIMEOUT_MS: '500',
  })
  await server.stop('immediate')
  const responses = await Promise.all(Array.from({ length: 60 }, () => unavailable.fetch('/plants')))
  assert.deepEqual([...new Set(responses.map(({ status }) => status))], [503])
  const failed = () => unavailable.log.filter(({ error }) => error === 50302)
  const more = await eventually(() => {
    const counts = unavailable.log.filter(({ msg }) => msg === 'more requests rejected')
    const suppressed = counts.map((line) => (line.suppressed as { 50302: number })[50302])
    return suppressed.reduce((sum, count) => sum + count, failed().length) === responses.length && counts
  })
  assert.ok(more.length > 0 && more.every(({ level }) => level === 50))
})

test('writes that a full disk rejects log ten lines a second, as the log may be on the same disk', async (t) => {
  const full = await startAlteredApp(t, {
    settings: { PLANTSTORE_LOG_LEVEL: 'info' },
    storage: (real) => ({
      ...real,
      plants: {
        ...real.plants,
        async create() {
          throw new AppError(50701, undefined, { cause: new Error('database or disk is full') })
        },
      },
    }),
  })
  const responses = await Promise.all(Array.from({ length: 60 }, () => full.create()))
  assert.deepEqual([...new Set(responses.map(({ status }) => status))], [507])
  const failed = () => full.log.filter(({ error }) => error === 50701)
  const more = await eventually(() => {
    const counts = full.log.filter(({ msg }) => msg === 'more requests rejected')
    const suppressed = counts.map((line) => (line.suppressed as { 50701: number })[50701])
    return suppressed.reduce((sum, count) => sum + count, failed().length) === responses.length && counts
  })
  assert.ok(more.length > 0 && more.every(({ level }) => level === 50))
})

test('a path that cannot be decoded logs a line like any other', async () => {
  for (const [authorization, status, error] of [
    [`Bearer ${TOKEN}`, 400, 40004],
    ['', 401, 40101],
  ] as const) {
    const line = await lineOf(app, await app.fetch('/plants/%ff?q=1', { headers: { authorization } }))
    assert.deepEqual([line.path, line.status, line.error], ['/plants/%ff', status, error])
    assert.equal(typeof line.durationMs, 'number')
  }
})

test('at the level debug every request logs a line', async (test) => {
  const app = await startApp(test, { PLANTSTORE_LOG_LEVEL: 'debug' })
  const response = await app.fetch('/plants?limit=1')
  const line = await lineOf(app, response)
  assert.deepEqual([line.level, line.msg, line.path, line.status], [20, 'request', '/plants', 200])
  assert.ok(!('error' in line))
})

test('at the level warn a rejection logs no line', async (test) => {
  const app = await startApp(test, { PLANTSTORE_LOG_LEVEL: 'warn' })
  await (await app.fetch('/nothing')).arrayBuffer()
  await (await app.fetch('/healthz')).arrayBuffer()
  assert.deepEqual(app.log, [])
})

// The lines of failures of the service are tested in error-responses.test.ts.
test('a slow request logs a warning', async (test) => {
  const slow = await startApp(test, { PLANTSTORE_SLOW_REQUEST_MS: '0' })
  const line = await lineOf(slow, await slow.fetch('/healthz'))
  assert.deepEqual([line.level, line.msg, line.path], [40, 'slow request', '/healthz'])
})

test('no line contains a token, a query or a body', async (test) => {
  const app = await startApp(test, { PLANTSTORE_LOG_LEVEL: 'trace', PLANTSTORE_SLOW_REQUEST_MS: '0' })
  const secret = 'Never-To-Be-Logged'
  const token = generateToken()
  const responses = [
    await app.send('POST', '/plants', `{"id":1,"name":"${secret}","tag":"${secret}"}`),
    await app.send('POST', '/plants', `{"id":1,"name":"${secret}"}`),
    await app.send('POST', '/plants', `{"${secret}`),
    await app.send('POST', '/plants', `{"id":"${secret}"}`, { 'idempotency-key': secret }),
    await app.send('POST', '/plants', '{}', { 'content-type': `text/${secret}` }),
    await app.fetch(`/plants?q=${secret}&access_token=${token}`),
    await app.fetch(`/plants?tag=${secret}`),
    await app.fetch('/plants', { headers: { authorization: `Bearer ${token}` } }),
    await app.fetch('/plants', { headers: { authorization: `Basic ${secret}` } }),
    await app.fetch('/plants', { headers: { cookie: secret, referer: secret, 'user-agent': secret } }),
    await app.fetch(`/tokens/${token}`, { method: 'DELETE' }),
    await app.fetch(`/nothing/${token}/more`),
    await app.fetch(`/tokens/${TOKEN}`, { method: 'DELETE' }),
    await app.fetch(`/tokens/${TOKEN}/rotate`, { method: 'POST' }),
    await app.fetch(`/nothing/eyJhbGciOiJub25lIn0.${secret}.${secret}`),
    await app.send('POST', '/tokens', `{"scopes":["plants:read"],"other":"${secret}"}`),
  ]
  const wire = await openWire(test, app.port)
  wire.send(
    requestText(`GET http://${secret}@a/plants`),
    requestText('GET /plants', { Host: secret }),
    `${secret}\r\n\r\n`,
  )
  await wire.response()
  for (const response of responses) await lineOf(app, response)
  const made = (await responses.at(-1)?.json()) as { token: string }
  const text = JSON.stringify(app.log)
  for (const hidden of [secret, token, made.token, TOKEN]) assert.ok(!text.includes(hidden), text)
})

test('a long or unusual path is truncated to one line', async () => {
  const line = await lineOf(app, await app.fetch(`/${'x'.repeat(5000)}%0A%1B[31m`))
  assert.equal(String(line.path).length, 200)
  const odd = await lineOf(app, await app.fetch('/a%0Ab%1B[31m'))
  assert.equal(odd.path, '/a%0Ab%1B[31m')
})

test('a valid request id of the client is used in the response and in the log', async () => {
  for (const id of [
    '0191f7a2-6d1c-7cc1-8000-1a2b3c4d5e6f',
    '01J8XK5R',
    'a',
    'trace.1:span-2_3',
    'x'.repeat(128),
  ]) {
    const response = await app.fetch('/nothing', { headers: { 'x-request-id': id } })
    assert.equal(response.headers.get('x-request-id'), id)
    await lineOf(app, response)
  }
})

test('a request id that could garble a log is replaced by a generated one', async (test) => {
  const wire = await openWire(test, app.port)
  const seen = new Set<string>()
  for (const id of [
    '-a',
    '.a',
    'a b',
    'a,b',
    'a"b',
    "a'b",
    'a;b',
    '<a>',
    '\xe9',
    'a\tb',
    'x'.repeat(129),
    '{}',
    '',
  ]) {
    wire.send(
      `GET /nothing HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${TOKEN}\r\nX-Request-Id: ${id}\r\n\r\n`,
    )
    const { headers } = await wire.response()
    const responded = headers['x-request-id'] ?? ''
    assert.match(responded, /^[A-Za-z0-9]+-[a-z0-9]+$/, id)
    seen.add(responded)
  }
  assert.equal(seen.size, 13)
  wire.send(requestText('GET /nothing', { 'X-Request-Id': 'a', 'x-request-id': 'b' }))
  assert.match((await wire.response()).headers['x-request-id'] ?? '', /^[A-Za-z0-9]+-[a-z0-9]+$/)
})
