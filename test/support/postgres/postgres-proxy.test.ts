import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, describe, type TestContext, test } from 'node:test'
import postgres from 'postgres'
import { eventually } from '../eventually.ts'
import { startPostgresProxy } from './postgres-proxy.ts'
import { postgresMissing, startPostgres } from './postgres-server.ts'

const LOST = { code: 'CONNECTION_CLOSED' }

/** One for all: each test has a database of its own. */
const server = postgresMissing === undefined ? await startPostgres({ after }, { tls: true }) : undefined

describe('a proxy before PostgreSQL', { skip: postgresMissing }, () => {
  /** A database of its own behind a proxy, and a client with one connection, or `max`. */
  async function connectThroughProxy(t: TestContext, { max = 1, ssl = false } = {}) {
    assert.ok(server)
    const direct = new URL(await server.createDatabase())
    const proxy = await startPostgresProxy(t, server.port)
    const url = new URL(direct)
    url.port = String(proxy.port)
    const sql = postgres(url.href, {
      max,
      ssl: ssl && 'require',
      backoff: () => 0,
      onnotice: () => undefined,
    })
    t.after(() => sql.end({ timeout: 0 }))
    const database = direct.pathname.slice(1)
    const look = (statement: string) => server.query(statement, database)
    await look('CREATE TABLE plant (id bigint PRIMARY KEY, name text)')
    const add = (id: number, name = 'Fern') => sql`INSERT INTO plant VALUES (${id}, ${name})`
    return { proxy, sql, look, add, url: url.href }
  }

  test('forwards everything by default', async (t) => {
    const { proxy, sql, add } = await connectThroughProxy(t, { max: 4 })
    const name = 'fern '.repeat(300_000)
    await Promise.all(Array.from({ length: 40 }, (_, id) => add(id, name)))
    const rows = await sql`SELECT name = ${name} AS same FROM plant`
    assert.equal(rows.filter(({ same }) => same).length, 40)
    assert.equal((await sql`SELECT name FROM plant LIMIT 1`)[0]?.name, name)
    assert.equal(proxy.connections, 4)
  })

  test('forwards TLS', async (t) => {
    const { sql } = await connectThroughProxy(t, { ssl: true })
    assert.equal((await sql`SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()`)[0]?.ssl, true)
  })

  test('drops connections, and closes or accepts new ones', async (t) => {
    const { proxy, sql } = await connectThroughProxy(t)
    const [before] = await sql`SELECT pg_backend_pid() AS pid`
    const waiting = assert.rejects(sql`SELECT pg_sleep(60)`, LOST)
    await eventually(() => proxy.connections === 1)
    proxy.cut()
    await waiting
    proxy.reject()
    await once(connect(proxy.port, '127.0.0.1').resume(), 'close')
    proxy.accept()
    const [after] = await sql`SELECT pg_backend_pid() AS pid`
    assert.notEqual(after?.pid, before?.pid)
  })

  test('stalls bytes and resumes them', async (t) => {
    const { proxy, add, look } = await connectThroughProxy(t)
    await add(1)
    proxy.stall()
    let hasResponse = false
    const response = add(2).then(() => {
      hasResponse = true
    })
    await look('SELECT pg_sleep(0.1)')
    assert.equal(hasResponse, false)
    assert.equal(await look('SELECT count(*) FROM plant'), '1')
    proxy.resume()
    await response
    assert.equal(await look('SELECT count(*) FROM plant'), '2')
  })

  test('drops the response to a performed statement', async (t) => {
    const { proxy, sql, add, look } = await connectThroughProxy(t)
    await add(1)
    const cut = proxy.cutAfterServerBytes(0)
    await assert.rejects(add(2), LOST)
    await cut
    const cutOfCommit = proxy.cutAfterServerBytes(0, { match: 'commit' })
    await assert.rejects(
      sql.begin((transaction) => transaction`INSERT INTO plant VALUES (3)`),
      LOST,
    )
    await cutOfCommit
    assert.equal(await look('SELECT id FROM plant ORDER BY id'), '1\n2\n3')
    await sql`SELECT 'connected again'`
    void proxy.cutAfterServerBytes(2_000)
    await assert.rejects(sql`SELECT repeat('x', 5000)`, LOST)
    await add(4)
  })

  test('drops a request before the server gets it, or midway', async (t) => {
    const { proxy, sql, add, look } = await connectThroughProxy(t)
    for (const bytes of [0, 20]) {
      await sql`SELECT 'connected'`
      const cut = proxy.cutAfterClientBytes(bytes)
      await assert.rejects(add(2), LOST)
      await cut
    }
    void proxy.cutAfterClientBytes(0, { match: 'INSERT' })
    await assert.rejects(add(2), LOST)
    assert.equal(await look('SELECT count(*) FROM plant'), '0')
    await add(2)
  })

  test('responds to a chosen statement with an error, and the connection stays usable', async (t) => {
    const { proxy, sql, add, look } = await connectThroughProxy(t)
    const [before] = await sql`SELECT pg_backend_pid() AS pid`
    // Once before the statement is prepared, once by its SQL when only its name is sent, once by a value.
    for (const match of ['INSERT INTO plant', 'INSERT INTO plant', 'Horsetail']) {
      const responded = proxy.respondToNext('40001', { match })
      assert.equal((await sql`SELECT 1 AS one`)[0]?.one, 1)
      await assert.rejects(add(1, 'Horsetail'), { code: '40001', severity: 'ERROR' })
      await responded
      assert.equal(await look('SELECT count(*) FROM plant'), '0')
      await add(1, 'Horsetail')
      await sql`DELETE FROM plant`
    }
    void proxy.respondToNext('57014', { match: 'simple' })
    await assert.rejects(sql`SELECT 'simple'`.simple(), { code: '57014' })
    assert.equal((await sql`SELECT pg_backend_pid() AS pid`)[0]?.pid, before?.pid)
  })

  test('responds in order to pipelined statements', async (t) => {
    const { proxy, sql } = await connectThroughProxy(t)
    void proxy.respondToNext('40001', { match: 'second' })
    const results = await Promise.allSettled([
      sql`SELECT pg_sleep(0.05), 'first' AS word`,
      sql`SELECT 'second' AS word`,
      sql`SELECT 'third' AS word`,
    ])
    const words = results.map((result) =>
      result.status === 'fulfilled' ? result.value[0]?.word : result.reason.code,
    )
    assert.deepEqual(words, ['first', '40001', 'third'])
  })

  test('fails a transaction, which is rolled back', async (t) => {
    const { proxy, sql, look } = await connectThroughProxy(t)
    for (const match of ['VALUES (2)', 'commit']) {
      void proxy.respondToNext('40001', { match })
      await assert.rejects(
        sql.begin(async (transaction) => {
          await transaction`INSERT INTO plant VALUES (1)`
          await transaction`INSERT INTO plant VALUES (2)`
        }),
        { code: '40001' },
      )
      assert.equal((await sql`SELECT count(*)::int AS count FROM plant`)[0]?.count, 0)
    }
    assert.equal(await look('SELECT count(*) FROM plant'), '0')
  })

  test('closes a connection like a server that shuts down or is full', async (t) => {
    const { proxy, sql, add } = await connectThroughProxy(t)
    await add(1)
    void proxy.respondToNext('57P01', { fatal: true, match: 'INSERT' })
    await assert.rejects(add(2), { code: /57P01|CONNECTION_CLOSED/ })
    const full = proxy.respondToNextStartup('53300')
    await assert.rejects(add(2), { code: '53300', severity: 'FATAL' })
    await full
    await add(2)
    assert.equal((await sql`SELECT count(*)::int AS count FROM plant`)[0]?.count, 2)
  })

  test('forwards new connections to another port', async (t) => {
    const { proxy, url } = await connectThroughProxy(t)
    const other = await startPostgres(t)
    assert.equal(new URL(await other.createDatabase()).pathname, '/test_1')
    const elsewhere = postgres(url.replace(/[^/]+$/, 'test_1'), { max: 1 })
    t.after(() => elsewhere.end({ timeout: 0 }))
    proxy.target(other.port)
    const portOf = async (client: postgres.Sql) => (await client`SHOW port`)[0]?.port
    assert.equal(await portOf(elsewhere), `${other.port}`)
  })
})
