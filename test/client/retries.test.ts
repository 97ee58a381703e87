import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PlantStoreClient } from '../../src/client/plant-store-client.ts'
import { failureOf } from './failure-of.ts'
import { breakOff, dropConnection, reject, response, startScript, type Turn } from './scripted-server.ts'

const PLANT = { id: 9007199254740993n, name: 'Açaí palm', tag: 'palm' }
const STORED =
  '{"id":9007199254740993,"name":"Açaí palm","createdAt":"2026-04-01T08:30:00.000Z","updatedAt":"2026-04-01T08:30:00.000Z"}'
const CREATED = response(200, '{"name":"Açaí palm","tag":"palm"}', { etag: '"1"' })
const READ = response(200, STORED, { etag: '"1"' })
const DELETED: Turn = (response) => void response.writeHead(204).end()

const LOST: [string, Turn][] = [
  ['before the response', dropConnection],
  ['in the middle of the response', breakOff('{"na', { 'content-length': '33' })],
  ['behind a gateway that says 502', response(502, '<h1>Bad Gateway</h1>')],
  ['behind a gateway that says 504', response(504, '')],
  ['while the storage fails', reject(503, 50302)],
]

for (const [where, turn] of LOST) {
  test(`a create whose connection is lost ${where} is retried with the same key`, async (context) => {
    const { client, requests } = await startScript(context, [turn, turn, CREATED])
    assert.deepEqual(await client().createPlant(PLANT), { ...PLANT, etag: '"1"' })
    const keys = requests.map(({ headers }) => headers['idempotency-key'])
    assert.equal(keys.length, 3)
    assert.match(String(keys[0]), /^\d+(-\d+){3}$/)
    assert.deepEqual([keys[1], keys[2]], [keys[0], keys[0]])
    for (const { body } of requests) {
      assert.equal(body, '{"id":9007199254740993,"name":"Açaí palm","tag":"palm"}')
    }
  })
}

test('two creates have two keys', async (context) => {
  const { client, requests } = await startScript(context, [CREATED])
  await client().createPlant(PLANT)
  await client().createPlant(PLANT)
  assert.notEqual(requests[0]?.headers['idempotency-key'], requests[1]?.headers['idempotency-key'])
})

test('a create waits while an earlier try is running, and gets its response', async (context) => {
  const running = reject(400, 40902, { 'retry-after': '0' })
  const { client, requests } = await startScript(context, [dropConnection, running, running, CREATED])
  assert.equal((await client().createPlant(PLANT)).etag, '"1"')
  assert.equal(requests.length, 4)
})

test('the error of a create that ran out of tries has its key, and says that it may be stored', async (context) => {
  const { client, requests } = await startScript(context, [dropConnection])
  const error = await failureOf(client({ triesMax: 3 }).createPlant(PLANT))
  assert.deepEqual([error.kind, error.code, error.status], ['connection', undefined, undefined])
  assert.equal(error.isOutcomeUnknown, true)
  assert.equal(error.idempotencyKey, requests[0]?.headers['idempotency-key'])
  assert.equal(requests.length, 3)
  assert.match(error.message, /^The connection to http:\S+ failed: /)
  assert.ok(error.cause instanceof Error)
})

test('a rejected request is not retried', async (context) => {
  for (const [status, code] of [
    [400, 40901],
    [400, 42201],
    [401, 40102],
    [500, 50001],
    [507, 50701],
  ] as const) {
    const { client, requests } = await startScript(context, [reject(status, code), CREATED])
    const error = await failureOf(client().createPlant(PLANT))
    assert.deepEqual([error.kind, error.code, error.status], ['service', code, status])
    assert.deepEqual([error.message, error.requestId], [`rejected with ${code}`, `request-${code}`])
    assert.equal(error.isOutcomeUnknown, code === 50001)
    assert.equal(requests.length, 1)
  }
})

test('Retry-After is respected, as seconds or as a date by the clock of the server', async (context) => {
  const past = new Date(Date.now() - 3_600_000)
  const date = { date: past.toUTCString(), 'retry-after': new Date(past.getTime() + 1_000).toUTCString() }
  for (const turn of [reject(429, 42901, { 'retry-after': '1' }), reject(503, 50301, date)]) {
    const { client, requests } = await startScript(context, [turn, READ])
    assert.equal((await client().getPlant(PLANT.id))?.id, PLANT.id)
    const waitedMs = (requests[1]?.atMs ?? 0) - (requests[0]?.atMs ?? 0)
    assert.ok(waitedMs >= 995 && waitedMs < 2_500, `${waitedMs} ms`)
  }
})

test('a wait longer than the remaining time is not begun', async (context) => {
  const { client, requests } = await startScript(context, [reject(503, 50303, { 'retry-after': '3600' })])
  const beginMs = performance.now()
  const error = await failureOf(client().createPlant(PLANT))
  assert.deepEqual([error.code, error.retryAfterMs, error.isOutcomeUnknown], [50303, 3_600_000, false])
  assert.equal(requests.length, 1)
  assert.ok(performance.now() - beginMs < 1_000)
})

/** What is repeated when nobody knows whether it was done, and what only when it surely was not. */
const WRITES: [string, (client: PlantStoreClient) => Promise<unknown>, Turn, boolean][] = [
  ['a replacement', (client) => client.replacePlant(PLANT.id, PLANT), READ, true],
  [
    'a replacement under a condition',
    (client) => client.replacePlant(PLANT.id, PLANT, { ifMatch: '"0"' }),
    READ,
    false,
  ],
  [
    'an addition under a condition',
    (client) => client.replacePlant(PLANT.id, PLANT, { ifNoneMatch: '*' }),
    READ,
    false,
  ],
  ['a change', (client) => client.updatePlant(PLANT.id, { tag: null }), READ, true],
  [
    'a change under a condition',
    (client) => client.updatePlant(PLANT.id, {}, { ifMatch: '"0"' }),
    READ,
    false,
  ],
  ['a deletion', (client) => client.deletePlant(PLANT.id), DELETED, true],
  [
    'a deletion under a condition',
    (client) => client.deletePlant(PLANT.id, { ifMatch: '"0"' }),
    DELETED,
    false,
  ],
  ['a new token', (client) => client.createToken({ scopes: [] }), response(201, '{"token":"secret"}'), false],
  ['a revocation', (client) => client.revokeToken('abc'), DELETED, true],
]

for (const [what, call, success, isRepeated] of WRITES) {
  test(`${what} is ${isRepeated ? '' : 'not '}retried after a lost response, and is retried if it was not begun`, async (context) => {
    const lost = await startScript(context, [dropConnection, success])
    if (isRepeated) {
      await call(lost.client())
    } else {
      const error = await failureOf(call(lost.client()))
      assert.deepEqual([error.kind, error.isOutcomeUnknown], ['connection', true])
    }
    assert.equal(lost.requests.length, isRepeated ? 2 : 1)
    for (const turn of [reject(429, 42901), reject(503, 50301), reject(503, 50303)]) {
      const { client, requests } = await startScript(context, [turn, success])
      await call(client())
      assert.equal(requests.length, 2)
    }
  })
}

test('a delete whose response was lost succeeds if the next try finds no plant', async (context) => {
  const plant = await startScript(context, [dropConnection, reject(404, 40402)])
  assert.equal(await plant.client().deletePlant(PLANT.id), true)
  const token = await startScript(context, [dropConnection, reject(404, 40403)])
  assert.equal(await token.client().revokeToken('abc'), true)
  const rejected = await startScript(context, [reject(503, 50301), reject(404, 40402)])
  assert.equal(await rejected.client().deletePlant(PLANT.id), false)
})

test('health and readiness requests are not retried', async (context) => {
  const { client, requests } = await startScript(context, [reject(503, 50302)])
  assert.equal((await failureOf(client().getReadiness())).code, 50302)
  await failureOf(client().getHealth())
  assert.equal(requests.length, 2)
})

test('only the failed page of a list is retried', async (context) => {
  const page = (id: bigint, more: boolean) =>
    response(200, `[{"id":${id},"name":"a"}]`, more ? { link: '</plants?after=1>; rel="next"' } : {})
  const { client, requests } = await startScript(context, [
    page(1n, true),
    dropConnection,
    page(PLANT.id, false),
  ])
  const ids: bigint[] = []
  for await (const { id } of client().listPlants()) ids.push(id)
  assert.deepEqual(ids, [1n, PLANT.id])
  assert.deepEqual(
    requests.map(({ path }) => path),
    ['/plants?limit=1000', '/plants?limit=1000&after=1', '/plants?limit=1000&after=1'],
  )
})

test('a token function is called before each try', async (context) => {
  const { client, requests } = await startScript(context, [dropConnection, dropConnection, READ])
  let asked = 0
  await client({ token: () => `token-${++asked}` }).getPlant(PLANT.id)
  assert.deepEqual(
    requests.map(({ headers }) => headers.authorization),
    ['Bearer token-1', 'Bearer token-2', 'Bearer token-3'],
  )
})
