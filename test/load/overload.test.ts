import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '../support/eventually.ts'
import { assertErrorResponse } from '../support/http/error-body.ts'
import { startAlteredApp } from '../support/http/start-altered-app.ts'
import { type StartedApp, startApp } from '../support/http/start-app.ts'
import { metricsOf, sumOf } from '../support/metrics-text.ts'

test('rejections for overload are counted by reason and summarised in the log', async (test) => {
  const app = await startApp(test, { PLANTSTORE_QUEUED_WRITES_MAX: '1' })
  const responses = await Promise.all(
    Array.from({ length: 60 }, (_, id) => app.send('POST', '/plants', `{"id":${id},"name":"a"}`)),
  )
  const rejected = responses.filter(({ status }) => status === 503)
  assert.ok(rejected.length > 2, String(rejected.length))
  for (const { headers } of rejected) assert.equal(headers.get('retry-after'), '1')

  const lines = () => app.log.filter(({ msg }) => msg === 'overloaded')
  const summedUp = () =>
    lines().reduce((sum, line) => sum + Number((line.rejected as Record<string, number>)['queued-writes']), 0)
  await eventually(() => summedUp() === rejected.length)
  assert.ok(lines().length < rejected.length, JSON.stringify(lines()))
  assert.ok(lines().every(({ level, error }) => level === 50 && error === 50301))
  assert.equal(app.log.filter(({ requestId }) => requestId !== undefined).length, 0)

  const labels = { error: '50301', reason: 'too many writes queued' }
  assert.equal(sumOf(await metricsOf(app), 'plantstore_rejections_total', labels), rejected.length)
})

/** Sends creates, a few at a time, until one is rejected with `Retry-After`. */
async function createUntilRejected(app: StartedApp): Promise<Promise<Response>[]> {
  const sent: Promise<Response>[] = []
  let rejected: Response | undefined
  await eventually(async () => {
    const create = app.send('POST', '/plants', `{"id":${sent.length},"name":"a"}`)
    sent.push(create)
    create.then(
      (response) => {
        if (response.status === 503) rejected ??= response
      },
      () => {},
    )
    await Promise.race([create, sleep(20)])
    return rejected !== undefined
  })
  assert.equal(rejected?.headers.get('retry-after'), '1')
  return sent
}

/** How many of these were rejected; the others succeeded. */
async function countRejected(sent: readonly Promise<Response>[]): Promise<number> {
  const statuses = (await Promise.all(sent)).map(({ status }) => status)
  assert.ok(statuses.includes(200))
  assert.deepEqual([...new Set(statuses)].sort(), [200, 503])
  return statuses.filter((status) => status === 503).length
}

async function assertAcceptsReads(app: Pick<StartedApp, 'fetch'>): Promise<void> {
  for (const path of ['/plants', '/tokens', '/healthz', '/readyz', '/metrics']) {
    assert.equal((await app.fetch(path)).status, 200, path)
  }
}

test('while the storage hangs, writes are rejected at once, reads are not, and accepted writes are done later', {
  skip: process.env.TEST_DATABASE_SERVER === undefined ? false : 'the storage is stopped by a lock of SQLite',
}, async (test) => {
  const app = await startApp(test, { PLANTSTORE_WRITE_LAG_MAX_MS: '40' })
  await app.send('POST', '/plants', '{"id":-1,"name":"a"}')
  // Waits for the lock: the service may still be indexing the new plant.
  const other = new DatabaseSync(app.database, { timeout: 5_000 })
  test.after(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  const sent = await createUntilRejected(app)

  for (const [method, path] of [
    ['PUT', '/plants/-1'],
    ['PATCH', '/plants/-1'],
    ['DELETE', '/plants/-1'],
    ['POST', '/plants/import'],
    ['POST', '/tokens'],
  ] as const) {
    await assertErrorResponse(await app.send(method, path, '{}'), 503, 50301)
  }
  const noToken = await app.send('POST', '/plants', '{}', { authorization: 'Bearer unknown' })
  assert.equal(noToken.status, 401, 'without a valid token the load of the storage is not revealed')
  await assertAcceptsReads(app)

  other.exec('ROLLBACK')
  const rejected = 5 + (await countRejected(sent))
  assert.equal((await app.send('POST', '/plants', '{"id":-2,"name":"a"}')).status, 200)
  const labels = { error: '50301', reason: 'writes lag' }
  assert.equal(sumOf(await metricsOf(app), 'plantstore_rejections_total', labels), rejected)
})

test('while the event loop lags, writes beyond a full batch are rejected, and reads are not', async (test) => {
  let queuedWrites = 512
  const app = await startAlteredApp(test, {
    settings: { PLANTSTORE_EVENT_LOOP_LAG_MAX_MS: '30' },
    storage: (real) => ({ ...real, activity: { ...real.activity, queuedWrites: () => queuedWrites } }),
  })
  let isBusy = true
  test.after(() => {
    isBusy = false
  })
  const block = () => {
    for (const endMs = performance.now() + 60; performance.now() < endMs; );
    if (isBusy) setImmediate(block)
  }
  block()
  const rejected = await eventually(async () => {
    const response = await app.create()
    return response.status === 503 && response
  })
  assert.equal(rejected.headers.get('retry-after'), '1')
  await assertErrorResponse(rejected, 503, 50301)
  await assertAcceptsReads(app)
  queuedWrites = 511
  assert.notEqual((await app.create()).status, 503, 'fewer writes than a full batch are accepted')
  queuedWrites = 512
  isBusy = false
  await eventually(async () => (await app.create()).status !== 503)
  const labels = { error: '50301', reason: 'event loop lags' }
  assert.ok(sumOf(await metricsOf(app), 'plantstore_rejections_total', labels) >= 1)
})
