import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { AppError, ERRORS, type ErrorCode } from '../../../src/errors.ts'
import type { PlantStore } from '../../../src/plants/plant-store.ts'
import { eventually } from '../../support/eventually.ts'
import { assertErrorResponse } from '../../support/http/error-body.ts'
import { startApp } from '../../support/http/start-app.ts'
import { startReplaceableApp } from '../../support/http/start-replaceable-app.ts'
import { openWire, requestText, type WireResponse } from '../../support/http/wire.ts'

const app = await startApp({ after }, { PLANTSTORE_HEADERS_TIMEOUT_MS: '100' })

await app.send('POST', '/plants', '{"id":1,"name":"taken"}', { 'idempotency-key': 'used' })

const PLANT = '{"id":2,"name":"a"}'
const post = (json: string, headers?: Record<string, string>) => app.send('POST', '/plants', json, headers)
const get = (path: string, headers: Record<string, string> = {}) => app.fetch(path, { headers })

async function overWire(test: TestContext, text: string): Promise<WireResponse> {
  const wire = await openWire(test, app.port)
  wire.send(text)
  const response = await wire.response()
  await wire.assertClosed()
  return response
}

let isDraining = false
const altered = await startReplaceableApp({ after }, { isDraining: () => isDraining })

/** The response to a create that fails as a storage says that it may, and as it may not. */
const failingCreate = (failure: unknown) =>
  altered.instead({ create: () => Promise.reject(failure) }, () => altered.create())

async function withReadOnlyToken(): Promise<string> {
  const made = await app.send('POST', '/tokens', '{"scopes":["plants:read"]}')
  return ((await made.json()) as { token: string }).token
}

/** The response to a create while another one with the same key runs. */
async function runningTwice(): Promise<Response> {
  const isBegun = Promise.withResolvers<void>()
  const mayEnd = Promise.withResolvers<void>()
  const create: PlantStore['create'] = async () => {
    isBegun.resolve()
    await mayEnd.promise
    return { outcome: 'created', version: 1 }
  }
  return altered.instead({ create }, async () => {
    const first = altered.create({ 'idempotency-key': 'a' })
    await isBegun.promise
    const second = await altered.create({ 'idempotency-key': '"a"' })
    mayEnd.resolve()
    assert.equal((await first).status, 200)
    assert.equal((await altered.create({ 'idempotency-key': 'a' })).status, 200, 'the key is free again')
    return second
  })
}

/** A rejected one of many concurrent writes to a service whose queue has room for one. */
async function overloaded(test: TestContext): Promise<Response> {
  const small = await startApp(test, { PLANTSTORE_QUEUED_WRITES_MAX: '1' })
  const responses = await Promise.all(
    Array.from({ length: 40 }, (_, id) => small.send('POST', '/plants', `{"id":${id},"name":"a"}`)),
  )
  const rejected = responses.find(({ status }) => status !== 200)
  assert.ok(rejected && responses.some(({ status }) => status === 200))
  return rejected
}

/** The last of so many reads at once that a token which may make one a second cannot have made them. */
async function oneTooMany(test: TestContext): Promise<WireResponse> {
  const limited = await startApp(test, { PLANTSTORE_RATE_LIMIT: '1' })
  const wire = await openWire(test, limited.port)
  wire.send(requestText('GET /plants').repeat(3))
  await wire.response()
  await wire.response()
  return wire.response()
}

/** For every code one way to provoke it, and the status that it gets there. */
const PROVOKED: Record<
  ErrorCode,
  { status: number; provoke(test: TestContext): Promise<Response | WireResponse> }
> = {
  40000: { status: 400, provoke: (test) => overWire(test, 'no HTTP at all\r\n\r\n') },
  40001: { status: 400, provoke: () => post('') },
  40002: { status: 400, provoke: () => post('{"id":2,') },
  40003: { status: 400, provoke: () => post('{"id":2}') },
  40004: { status: 400, provoke: () => get('/plants?colour=green') },
  40101: { status: 401, provoke: () => get('/plants', { authorization: '' }) },
  40102: { status: 401, provoke: () => get('/plants', { authorization: 'Bearer unknown' }) },
  40301: {
    status: 403,
    provoke: async () => post(PLANT, { authorization: `Bearer ${await withReadOnlyToken()}` }),
  },
  40401: { status: 404, provoke: () => get('/nothing') },
  40402: { status: 404, provoke: () => get('/plants/404') },
  40403: { status: 404, provoke: () => app.fetch('/tokens/nobody', { method: 'DELETE' }) },
  40501: { status: 405, provoke: () => app.fetch('/plants', { method: 'DELETE' }) },
  40801: { status: 408, provoke: (test) => overWire(test, 'GET /plants HTTP/1.1\r\nHost: a\r\n') },
  40901: { status: 400, provoke: () => post('{"id":1,"name":"a"}') },
  40902: { status: 400, provoke: runningTwice },
  41201: { status: 412, provoke: () => get('/plants/1', { 'if-match': '"stale"' }) },
  41301: {
    status: 413,
    provoke: () => app.send('PUT', '/plants/2', `{"name":"${'x'.repeat(1024 * 1024)}"}`),
  },
  41501: { status: 415, provoke: () => app.send('PUT', '/plants/2', PLANT, { 'content-type': 'text/csv' }) },
  42201: { status: 400, provoke: () => post(PLANT, { 'idempotency-key': 'used' }) },
  42901: { status: 429, provoke: oneTooMany },
  43101: {
    status: 431,
    provoke: (test) => overWire(test, requestText('GET /plants', { X: 'x'.repeat(17_000) })),
  },
  50001: { status: 500, provoke: () => failingCreate(new TypeError('x is not a function')) },
  50301: { status: 503, provoke: overloaded },
  50302: {
    status: 503,
    provoke: () => failingCreate(new AppError(50302, undefined, { cause: new Error() })),
  },
  50303: {
    status: 503,
    provoke: () => {
      isDraining = true
      return altered.fetch('/readyz').finally(() => {
        isDraining = false
      })
    },
  },
  50701: {
    status: 507,
    provoke: () => failingCreate(new AppError(50701, undefined, { cause: new Error() })),
  },
}

for (const [code, { status, provoke }] of Object.entries(PROVOKED)) {
  const { meaning } = ERRORS[Number(code) as ErrorCode]
  test(`${code} gets ${status} and an Error body: ${meaning}`, async (test) => {
    await assertErrorResponse(await provoke(test), status, Number(code) as ErrorCode)
  })
}

test('an internal failure is in the log and not in the response', async () => {
  const secret = 'SELECT secret FROM /var/lib/plants.db'
  for (const [failure, code] of [
    [new Error(secret), 50001],
    [new AppError(50302, undefined, { cause: new Error(secret) }), 50302],
    [new AppError(50701, undefined, { cause: { message: secret, errcode: 13 } }), 50701],
    [secret, 50001],
    [undefined, 50001],
    [null, 50001],
  ] as const) {
    const response = await failingCreate(failure)
    const id = response.headers.get('x-request-id')
    assert.ok(!(await assertErrorResponse(response, ERRORS[code].status, code)).includes('secret'))
    const line = await eventually(() => altered.log.find(({ requestId }) => requestId === id))
    assert.equal(line.error, code)
    assert.equal(line.level, 50)
    if (failure) assert.ok(String(line.cause).includes(secret))
    if (failure instanceof Error && code === 50001) assert.match(String(line.cause), /\n +at /)
  }
})

test('a failed read of the storage fails the request, not the service', async () => {
  const failed = await altered.instead({ get: () => Promise.reject(new AppError(50302)) }, () =>
    altered.fetch('/plants/1'),
  )
  await assertErrorResponse(failed, 503, 50302)
  await assertErrorResponse(await altered.fetch('/plants/1'), 404, 40402)
})

test('if the token store fails, a token is neither accepted nor called invalid', async () => {
  for (const [failure, status, code] of [
    [new AppError(50302), 503, 50302],
    [new Error('x'), 500, 50001],
  ] as const) {
    const response = await altered.instead({ findByHash: () => Promise.reject(failure) }, () =>
      altered.fetch('/plants', { headers: { authorization: 'Bearer some-other-token' } }),
    )
    await assertErrorResponse(response, status, code)
  }
})

test('the response to HEAD has the fields of the error and no body', async (test) => {
  const wire = await openWire(test, app.port)
  wire.send(requestText('HEAD /plants/404'))
  const { status, headers, body } = await wire.response('HEAD')
  assert.equal(status, 404)
  assert.equal(headers['content-type'], 'application/json; charset=utf-8')
  assert.ok(Number(headers['content-length']) > 0)
  assert.equal(body, '')
  await wire.assertUsable()
})
