import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { parseList } from 'structured-headers'
import { eventually } from '../../support/eventually.ts'
import { assertErrorResponse } from '../../support/http/error-body.ts'
import { startAlteredApp } from '../../support/http/start-altered-app.ts'
import { TOKEN } from '../../support/http/start-app.ts'
import { openWire, requestText, type WireResponse } from '../../support/http/wire.ts'

/** A service that accepts two invalid tokens from an address, and a clock that is set by hand. */
async function startWithGuessLimit(test: TestContext, settings: Record<string, string> = {}) {
  const clock = { nowMs: 0 }
  /** The lookups of tokens in the store. */
  const lookups = { count: 0 }
  const app = await startAlteredApp(test, {
    settings: { PLANTSTORE_FAILED_AUTHENTICATIONS_MAX: '2', ...settings },
    nowMs: () => clock.nowMs,
    storage: (real) => ({
      ...real,
      tokens: {
        ...real.tokens,
        findByHash(hash) {
          lookups.count++
          return real.tokens.findByHash(hash)
        },
      },
    }),
  })
  /** Reads with that token, from an address. */
  const ask = async (
    token: string,
    { from = '127.0.0.2', forwarded = '', path = '/plants' } = {},
  ): Promise<WireResponse> => {
    const wire = await openWire(test, app.port, { from })
    const authorization = token === '' ? '' : `Bearer ${token}`
    wire.send(requestText(`GET ${path}`, { Authorization: authorization, 'X-Forwarded-For': forwarded }))
    return wire.response()
  }
  const statuses = async (count: number, ...parameters: Parameters<typeof ask>) => {
    const seen: number[] = []
    for (let each = 0; each < count; each++) seen.push((await ask(...parameters)).status)
    return seen
  }
  return { app, clock, lookups, ask, statuses }
}

test('an address that sent too many wrong tokens gets 42901, and its next token is not looked up', async (test) => {
  const { clock, lookups, ask, statuses } = await startWithGuessLimit(test)
  assert.deepEqual(await statuses(2, 'wrong'), [401, 401])
  const response = await ask('another')
  assert.match(await assertErrorResponse(response, 429, 42901), /from this address/)
  assert.equal(lookups.count, 2)
  // One comes back every half a minute.
  assert.equal(response.headers['retry-after'], '30')
  assert.deepEqual(parseList(response.headers['ratelimit-policy'] ?? ''), [
    ['failed-authentication', new Map(Object.entries({ q: 2, w: 60 }))],
  ])
  assert.deepEqual(parseList(response.headers.ratelimit ?? ''), [
    ['failed-authentication', new Map(Object.entries({ r: 0, t: 30 }))],
  ])
  clock.nowMs += 30_000
  assert.deepEqual(await statuses(2, 'wrong'), [401, 429])
})

test('wrong tokens on unknown paths and undecodable targets count, too', async (test) => {
  const { statuses } = await startWithGuessLimit(test)
  assert.deepEqual(await statuses(1, 'wrong', { path: '/nothing' }), [401])
  assert.deepEqual(await statuses(2, 'wrong', { path: '/%zz' }), [401, 429])
  assert.deepEqual(await statuses(1, 'wrong'), [429])
})

test('tokens that were found valid still work from that address, and every token from another one', async (test) => {
  const { app, statuses } = await startWithGuessLimit(test)
  const made = await app.fetch('/tokens', {
    method: 'POST',
    body: '{"scopes":["plants:read"]}',
    headers: { 'content-type': 'application/json' },
  })
  const { token } = (await made.json()) as { token: string }
  assert.deepEqual(await statuses(1, TOKEN), [200])
  assert.deepEqual(await statuses(3, 'wrong'), [401, 401, 429])
  assert.deepEqual(await statuses(3, TOKEN), [200, 200, 200])
  assert.deepEqual(await statuses(1, token), [429], 'not known to be valid yet')
  assert.deepEqual(await statuses(1, token, { from: '127.0.0.3' }), [200])
  assert.deepEqual(await statuses(1, token), [200], 'known by now, wherever it comes from')
})

test('valid tokens and requests without a token do not count', async (test) => {
  const { statuses } = await startWithGuessLimit(test)
  assert.deepEqual(await statuses(5, ''), [401, 401, 401, 401, 401])
  assert.deepEqual(await statuses(5, TOKEN), [200, 200, 200, 200, 200])
  assert.deepEqual(await statuses(3, 'wrong'), [401, 401, 429])
  assert.deepEqual(await statuses(1, ''), [401])
})

test('pipelined wrong tokens are limited like sequential ones', async (test) => {
  const { app } = await startWithGuessLimit(test)
  const wire = await openWire(test, app.port)
  for (let each = 0; each < 20; each++) {
    wire.send(requestText('GET /plants', { Authorization: `Bearer wrong-${each}` }))
  }
  const seen: number[] = []
  for (let each = 0; each < 20; each++) seen.push((await wire.response()).status)
  assert.equal(seen.filter((status) => status === 401).length, 2)
  assert.equal(seen.filter((status) => status === 429).length, 18)
})

test('X-Forwarded-For of an untrusted client does not change the address that is counted', async (test) => {
  const { ask, statuses } = await startWithGuessLimit(test)
  for (const forwarded of ['198.51.100.1', '198.51.100.2', '127.0.0.3']) {
    await ask('wrong', { forwarded })
  }
  assert.deepEqual(await statuses(1, 'wrong', { forwarded: '198.51.100.3' }), [429])
  assert.deepEqual(await statuses(1, 'wrong', { from: '127.0.0.3' }), [401])
})

test('clients of a trusted proxy are distinguished by the address that it adds to X-Forwarded-For', async (test) => {
  const { app, statuses } = await startWithGuessLimit(test, {
    PLANTSTORE_TRUSTED_PROXIES: '127.0.0.9, 127.0.1.0/24',
  })
  const proxied = (forwarded: string, from = '127.0.0.9') => ({ forwarded, from })
  assert.deepEqual(await statuses(3, 'wrong', proxied('198.51.100.1')), [401, 401, 429])
  assert.deepEqual(await statuses(1, 'wrong', proxied('1.2.3.4, 198.51.100.1')), [429], 'forged in front')
  assert.deepEqual(await statuses(1, 'wrong', proxied('198.51.100.1, 127.0.1.5')), [429], 'by two of them')
  assert.deepEqual(await statuses(1, 'wrong', { ...proxied('198.51.100.1'), path: '/%zz' }), [429])
  assert.deepEqual(await statuses(1, 'wrong', proxied('198.51.100.2')), [401])
  assert.deepEqual(await statuses(1, 'wrong', proxied('198.51.100.1', '127.0.0.8')), [401], 'not trusted')
  assert.deepEqual(await statuses(3, 'wrong', proxied('2001:db8::1')), [401, 401, 429])
  assert.deepEqual(await statuses(1, 'wrong', proxied('2001:db8::ffff:1')), [429], 'the same network')
  assert.deepEqual(await statuses(1, 'wrong', proxied('2001:db8:0:1::1')), [401])
  const logged = await eventually(() =>
    app.log.find(({ clientAddress }) => clientAddress === '2001:db8::ffff:1'),
  )
  assert.equal(logged.error, 42901)
  const rejected = app.log.filter(({ event }) => event === 'token.rejected')
  assert.ok(
    rejected.some(({ clientAddress }) => clientAddress === '198.51.100.1'),
    'in the audit as well',
  )
})

test('only the log line of a request over the limit has the client address', async (test) => {
  const { app, ask, statuses } = await startWithGuessLimit(test)
  await ask(TOKEN)
  await ask('')
  assert.deepEqual(await statuses(3, 'wrong'), [401, 401, 429])
  const lines = await eventually(() => {
    const requests = app.log.filter(({ status }) => status !== undefined)
    return requests.length === 5 ? requests : undefined
  })
  assert.deepEqual(
    lines.map(({ clientAddress }) => clientAddress),
    [undefined, undefined, undefined, undefined, '127.0.0.2'],
  )
})

test('0 turns the limit off, by itself or with every other limit', async (test) => {
  for (const settings of [{ PLANTSTORE_FAILED_AUTHENTICATIONS_MAX: '0' }, { PLANTSTORE_RATE_LIMIT: '0' }]) {
    const { statuses } = await startWithGuessLimit(test, settings)
    assert.deepEqual(await statuses(5, 'wrong'), [401, 401, 401, 401, 401])
  }
})
