import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { parseList } from 'structured-headers'
import { assertErrorResponse } from '../../support/http/error-body.ts'
import { startAlteredApp } from '../../support/http/start-altered-app.ts'
import { startApp } from '../../support/http/start-app.ts'
import { openWire, requestText } from '../../support/http/wire.ts'

const clock = { nowMs: 0 }
const app = await startAlteredApp(
  { after },
  {
    settings: { PLANTSTORE_RATE_LIMIT: '3', PLANTSTORE_RATE_LIMIT_PLANTS_WRITE: '1' },
    nowMs: () => clock.nowMs,
  },
)

async function newToken(...scopes: string[]): Promise<Record<string, string>> {
  const made = await app.fetch('/tokens', {
    method: 'POST',
    body: JSON.stringify({ scopes }),
    headers: { 'content-type': 'application/json' },
  })
  // The next test begins with nothing used.
  clock.nowMs += 1_000
  return { authorization: `Bearer ${((await made.json()) as { token: string }).token}` }
}

/** The statuses of so many requests one after another. */
async function statuses(count: number, path: string, init: RequestInit = {}): Promise<number[]> {
  const seen: number[] = []
  for (let each = 0; each < count; each++) seen.push((await app.fetch(path, init)).status)
  return seen
}

const create = (id: number, authorization: Record<string, string>) =>
  app.create({ ...authorization, 'idempotency-key': `key-${id}` })

/** The only policy that a response names, and what its fields say of it. */
function limitOf({ headers }: Response) {
  const [[policy = '', policyParameters] = [], ...otherPolicies] = parseList(
    headers.get('ratelimit-policy') ?? '',
  )
  const [[limited, parameters] = [], ...others] = parseList(headers.get('ratelimit') ?? '')
  assert.deepEqual([limited, ...otherPolicies, ...others], [policy])
  return { policy, ...Object.fromEntries([...(policyParameters ?? []), ...(parameters ?? [])]) }
}

test('a token over its limit gets 429 with Retry-After, and succeeds after that time', async () => {
  const headers = await newToken('plants:read')
  assert.deepEqual(await statuses(3, '/plants', { headers }), [200, 200, 200])
  const rejected = await app.fetch('/plants', { headers })
  assert.equal(rejected.headers.get('retry-after'), '1')
  assert.match(await assertErrorResponse(rejected, 429, 42901), /with this token/)
  clock.nowMs += 1_000
  assert.equal((await app.fetch('/plants', { headers })).status, 200)
})

test('every limited response has the limit and the rest of it as structured fields (RFC 9651)', async () => {
  const headers = await newToken('plants:read')
  const policy = { policy: 'plants:read', q: 3, w: 1, t: 1 }
  const responses = [
    await app.fetch('/plants', { headers }),
    await app.fetch('/plants?wrong', { headers }),
    await app.fetch('/plants/404', { method: 'HEAD', headers }),
    await app.fetch('/plants', { headers }),
  ]
  assert.deepEqual(
    responses.map(({ status }) => status),
    [200, 400, 404, 429],
  )
  assert.deepEqual(responses.map(limitOf), [
    { ...policy, r: 2 },
    { ...policy, r: 1 },
    { ...policy, r: 0 },
    { ...policy, r: 0 },
  ])
})

test('an export has them, too', async () => {
  const headers = { ...(await newToken('plants:read')), accept: 'text/csv' }
  assert.deepEqual(limitOf(await app.fetch('/plants', { headers })), {
    policy: 'plants:read',
    q: 3,
    w: 1,
    r: 2,
    t: 1,
  })
})

test('the requests of one token do not count for another', async () => {
  const [one, another] = [await newToken('plants:read'), await newToken('plants:read')]
  assert.deepEqual(await statuses(4, '/plants', { headers: one }), [200, 200, 200, 429])
  assert.deepEqual(await statuses(4, '/plants', { headers: another }), [200, 200, 200, 429])
})

test('each scope of a token has a quota of its own, and requests without a scope another', async () => {
  const headers = await newToken('plants:read', 'plants:write', 'tokens:manage')
  assert.equal((await create(1, headers)).status, 200)
  const rejected = await create(1, headers)
  assert.equal(limitOf(rejected).policy, 'plants:write')
  await assertErrorResponse(rejected, 429, 42901)
  assert.deepEqual(await statuses(4, '/plants', { headers }), [200, 200, 200, 429])
  assert.deepEqual(await statuses(4, '/tokens', { headers }), [200, 200, 200, 429])
  assert.deepEqual(await statuses(2, '/tokens/self', { headers }), [200, 200])
  assert.deepEqual(await statuses(2, '/nothing', { headers }), [404, 429], 'of requests without a scope')
  assert.deepEqual(await statuses(1, '/%zz', { headers }), [429])
  assert.equal(limitOf(await app.fetch('/%zz', { headers })).policy, 'any')
})

test('a request without the scope counts, and one without a valid token does not', async () => {
  const headers = await newToken('plants:write')
  assert.deepEqual(await statuses(4, '/plants', { headers }), [403, 403, 403, 429])
  for (const authorization of ['', 'Bearer wrong']) {
    const response = await app.fetch('/plants', { headers: { authorization } })
    assert.equal(response.status, 401)
    assert.equal(response.headers.get('ratelimit'), null)
  }
})

test('a create over the limit gets 429, and an invalid one 400', async () => {
  const headers = await newToken('plants:write')
  await create(2, headers)
  await assertErrorResponse(await create(2, headers), 429, 42901)
  clock.nowMs += 1_000
  assert.equal((await app.create(headers)).status, 400)
})

test('pipelined requests are counted one by one', async (test) => {
  const headers = await newToken('plants:read')
  await app.fetch('/plants', { headers })
  clock.nowMs += 1_000
  const wire = await openWire(test, app.port)
  wire.send(requestText('GET /plants', { Authorization: headers.authorization ?? '' }).repeat(5))
  for (const status of [200, 200, 200, 429, 429]) assert.equal((await wire.response()).status, status)
  await wire.assertUsable()
})

test('the web app, the API document and the health routes are not limited', async () => {
  for (const path of ['/', '/healthz', '/readyz', '/openapi.json', '/docs']) {
    for (let count = 0; count < 5; count++) {
      const response = await app.fetch(path)
      assert.ok(response.ok, path)
      assert.equal(response.headers.get('ratelimit-policy'), null)
      await response.arrayBuffer()
    }
  }
})

/** How many of ten reads and of ten writes at once are accepted. */
async function acceptedRequests(
  test: TestContext,
  settings: Record<string, string>,
): Promise<[number, number]> {
  const service = await startApp(test, settings)
  const count = async (request: (id: number) => Promise<Response>) => {
    const responses = await Promise.all(Array.from({ length: 10 }, (_, id) => request(id)))
    return responses.filter(({ status }) => status !== 429).length
  }
  return [
    await count(() => service.fetch('/plants')),
    await count((id) => service.send('POST', '/plants', `{"id":${id},"name":"a"}`)),
  ]
}

test('nothing is limited by default, and 0 turns a limit off', async (test) => {
  assert.deepEqual(await acceptedRequests(test, {}), [10, 10])
  const [reads, writes] = await acceptedRequests(test, { PLANTSTORE_RATE_LIMIT_PLANTS_READ: '1' })
  assert.ok(reads < 10)
  assert.equal(writes, 10, 'a scope alone')
  const [allButReads] = await acceptedRequests(test, {
    PLANTSTORE_RATE_LIMIT: '1',
    PLANTSTORE_RATE_LIMIT_PLANTS_READ: '0',
  })
  assert.equal(allButReads, 10)
  assert.deepEqual(
    await acceptedRequests(test, { PLANTSTORE_RATE_LIMIT: '0', PLANTSTORE_RATE_LIMIT_PLANTS_READ: '1' }),
    [10, 10],
  )
})
