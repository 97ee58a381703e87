import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import postgres, { type TransactionSql } from 'postgres'
import { AppError } from '../../../src/errors.ts'
import type { StorageOptions } from '../../../src/storage/storage.ts'
import { keepTrying } from '../../support/keep-trying.ts'
import { startPostgresProxy } from '../../support/postgres/postgres-proxy.ts'
import { postgresMissing } from '../../support/postgres/postgres-server.ts'
import { openDatabase, sharePostgres } from './temporary-database.ts'

const PLANT = { id: 1n, name: 'Quercus robur', tag: 'tree' }
const KEY = { caller: 'greenhouse', key: 'key-1', fingerprint: 'body-1' }
/** Short, so that a server that says nothing is given up soon: after their sum and a second. */
const IMPATIENT = { postgresConnectTimeoutMs: 1_000, postgresStatementTimeoutMs: 500 }
const BACK_WITHIN_MS = 3_000

describe('a failing database', { skip: postgresMissing }, () => {
  const shared = sharePostgres()

  /** A storage behind a proxy, with both of its clients connected. */
  async function openBehindProxy(t: TestContext, options: Partial<StorageOptions> = {}, query = '') {
    const { server } = shared
    const url = await server.createDatabase()
    const proxy = await startPostgresProxy(t, server.port)
    const address = url.replace(`:${server.port}/`, `:${proxy.port}/`)
    const storage = await openDatabase(t, address + query, options)
    await storage.plants.create({ id: 0n, name: 'the first' })
    await storage.plants.get(0n)
    return { url, proxy, ...storage }
  }

  async function failureOf(work: Promise<unknown>): Promise<AppError> {
    const error = await work.then(
      () => assert.fail('it did not fail'),
      (reason: unknown) => reason,
    )
    assert.ok(error instanceof AppError, String(error))
    assert.equal(error.code, 50302)
    return error
  }

  for (const sqlstate of ['40001', '40P01']) {
    test(`a write that was rolled back for another (${sqlstate}) is retried`, async (t) => {
      const { proxy, plants } = await openBehindProxy(t)
      const responded = proxy.respondToNext(sqlstate, { match: 'INSERT INTO plants' })
      assert.equal((await plants.create(PLANT)).outcome, 'created')
      await responded
      const changed = proxy.respondToNext(sqlstate, { match: 'UPDATE plants' })
      assert.equal((await plants.update(1n, { tag: 'oak' })).outcome, 'updated')
      await changed
      assert.equal((await plants.get(1n))?.tag, 'oak')
    })
  }

  for (const sqlstate of ['40001', '40P01']) {
    test(`a write that is rolled back every time (${sqlstate}) is tried six times, and nothing is stored`, async (t) => {
      const { proxy, plants } = await openBehindProxy(t)
      let tries = 0
      for (let response = 0; response < 20; response++) {
        void proxy.respondToNext(sqlstate, { match: 'INSERT INTO plants' }).then(() => tries++)
      }
      assert.deepEqual((await failureOf(plants.create(PLANT))).details, { outcome: 'none' })
      assert.equal(tries, 6)
      assert.equal(await plants.get(1n), undefined)
    })
  }

  test('a write that was aborted by a deadlock is retried', async (t) => {
    const { url, plants } = await openBehindProxy(t)
    const ids = [1n, 2n, 3n]
    await Promise.all(ids.map((id) => plants.create({ ...PLANT, id })))
    const others = postgres(url, { max: 2 })
    t.after(() => others.end())
    const lock = (sql: TransactionSql, id: number) => sql`SELECT FROM plants WHERE id = ${id} FOR UPDATE`
    let outcomes: Promise<unknown>[] = []
    await others.begin(async (first) => {
      const waiting = (expected: number) =>
        keepTrying(async () => {
          const [row] = await first`SELECT count(*)::integer AS count FROM pg_locks WHERE NOT granted`
          assert.equal(row?.count, expected)
        })
      await lock(first, 2)
      const third = Promise.withResolvers<void>()
      const second = others.begin(async (sql) => {
        // A server looks for a circle once in a wait, when it has taken this long. The wait in which there is one
        // is to be the store's, however slow the machine is.
        await sql`SET LOCAL deadlock_timeout = '1h'`
        await lock(sql, 3)
        third.resolve()
        await waiting(1)
        await lock(sql, 1)
      })
      await third.promise
      // One batch, which has the first plant and waits for the second, and then for the third.
      outcomes = [second, ...ids.map((id) => plants.update(id, { tag: 'oak' }))]
      await waiting(2)
    })
    await Promise.all(outcomes)
    for (const id of ids) assert.equal((await plants.get(id))?.tag, 'oak')
    await keepTrying(() => assert.match(shared.server.log, /deadlock detected/))
  })

  test('a create without a key fails with an unknown outcome if its response is lost, and is stored', async (t) => {
    const { proxy, plants } = await openBehindProxy(t)
    const lost = proxy.cutAfterServerBytes(0, { match: 'INSERT INTO plants' })
    assert.deepEqual((await failureOf(plants.create(PLANT))).details, { outcome: 'unknown' })
    await lost
    assert.equal((await plants.create(PLANT)).outcome, 'taken')
    assert.equal((await plants.get(1n))?.name, PLANT.name)
  })

  test("a create with a key fails with an unknown outcome if its commit's response is lost, and its retry is a replay", async (t) => {
    const { proxy, plants } = await openBehindProxy(t)
    const lost = proxy.cutAfterServerBytes(0, { match: 'commit' })
    assert.deepEqual((await failureOf(plants.create(PLANT, KEY))).details, { outcome: 'unknown' })
    await lost
    const again = await plants.create(PLANT, KEY)
    assert.equal(again.outcome, 'created')
    const stored = await plants.get(1n)
    assert.equal(again.outcome === 'created' && again.version, stored?.version)
    assert.equal(
      (await plants.create({ ...PLANT, id: 2n }, { ...KEY, fingerprint: 'other' })).outcome,
      'key-reused',
    )
  })

  test('a create with a key is stored once by its retry if the statement was lost', async (t) => {
    const { proxy, plants } = await openBehindProxy(t)
    const lost = proxy.cutAfterClientBytes(0, { match: 'INSERT INTO plants' })
    await failureOf(plants.create(PLANT, KEY))
    await lost
    assert.equal(await plants.get(1n), undefined)
    assert.equal((await plants.create(PLANT, KEY)).outcome, 'created')
  })

  test('the outcome of a write is unknown if the server shuts down (57P01), and the next write works', async (t) => {
    const { proxy, plants } = await openBehindProxy(t)
    const responded = proxy.respondToNext('57P01', { fatal: true, match: 'INSERT INTO plants' })
    assert.deepEqual((await failureOf(plants.create(PLANT))).details, { outcome: 'unknown' })
    await responded
    assert.equal((await plants.create(PLANT)).outcome, 'created')
  })

  test('a write whose connection the server closes is not retried', async (t) => {
    for (const sqlstate of ['57P01', '57P02', '25P03', '57P05', '08000', '08003', '08006']) {
      const { proxy, plants } = await openBehindProxy(t)
      const responded = proxy.respondToNext(sqlstate, { match: 'INSERT INTO plants' })
      assert.deepEqual((await failureOf(plants.create(PLANT))).details, { outcome: 'unknown' }, sqlstate)
      await responded
      assert.equal(await plants.get(1n), undefined, sqlstate)
    }
  })

  test('a committed write whose connection was terminated (57P01) is not retried', async (t) => {
    const { plants } = await openBehindProxy(t)
    const { server } = shared
    const waitFor = async (standby: string) => {
      await server.query(`ALTER SYSTEM SET synchronous_standby_names = '${standby}'`)
      await server.query('SELECT pg_reload_conf()')
    }
    const terminate = async () => {
      const found = await server.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'",
      )
      assert.equal(found, 't')
    }
    t.after(() => waitFor(''))
    await waitFor('no_such_standby')
    await keepTrying(async () =>
      assert.equal(await server.query('SHOW synchronous_standby_names'), 'no_such_standby'),
    )
    const version = (await plants.get(0n))?.version ?? 0
    const failure = failureOf(plants.replace(0n, { name: 'the second' }, { ifMatch: [version] }))
    await keepTrying(terminate)
    assert.deepEqual((await failure).details, { outcome: 'unknown' })
    assert.equal((await plants.get(0n))?.name, 'the second')
  })

  test('a read is retried if its connection is lost', async (t) => {
    const { proxy, plants } = await openBehindProxy(t)
    const lost = proxy.cutAfterServerBytes(0, { match: 'WHERE id = ' })
    assert.equal((await plants.get(0n))?.name, 'the first')
    await lost
  })

  test('a request is retried if the server has no connection left (53300)', async (t) => {
    const { proxy, plants } = await openBehindProxy(t)
    proxy.cut()
    const responded = proxy.respondToNextStartup('53300')
    await keepTrying(async () => assert.equal((await plants.create(PLANT)).outcome, 'created'))
    await responded
  })

  for (const [name, fail, repair, query] of [
    ['closes connections', 'reject', 'accept', ''],
    // Without TLS nothing is asked before the session begins, so the connection seems to be there.
    ['closes connections (sslmode=disable)', 'reject', 'accept', '?sslmode=disable'],
    ['does not respond', 'stall', 'resume', ''],
  ] as const) {
    test(`requests fail in time while a server ${name}, and work again afterwards`, async (t) => {
      const { proxy, plants, ping } = await openBehindProxy(t, IMPATIENT, query)
      proxy[fail]()
      if (fail === 'reject') proxy.cut()
      const start = performance.now()
      await Promise.all([failureOf(plants.create(PLANT)), failureOf(plants.get(0n)), assert.rejects(ping())])
      const tookMs = performance.now() - start
      assert.ok(tookMs < 8_000, `${tookMs} ms`)
      proxy[repair]()
      await keepTrying(() => ping(), { withinMs: BACK_WITHIN_MS })
      await keepTrying(() => plants.create({ ...PLANT, id: 3n }), { withinMs: BACK_WITHIN_MS })
      assert.equal((await plants.get(3n))?.name, PLANT.name)
    })
  }

  for (const [name, stop] of [
    ['killed', () => shared.server.kill()],
    ['shut down', () => shared.server.stop('fast')],
  ] as const) {
    test(`a server that was ${name} is used again in time once it has started`, async (t) => {
      const { plants, ping } = await openBehindProxy(t)
      await stop()
      await failureOf(plants.create(PLANT))
      await shared.server.start()
      const start = performance.now()
      await keepTrying(() => ping(), { withinMs: BACK_WITHIN_MS })
      assert.equal((await plants.get(0n))?.name, 'the first')
      await keepTrying(() => plants.create({ ...PLANT, id: 4n }), { withinMs: BACK_WITHIN_MS })
      const tookMs = performance.now() - start
      assert.ok(tookMs < BACK_WITHIN_MS, `${tookMs} ms`)
    })
  }
})
