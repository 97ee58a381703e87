import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import postgres from 'postgres'
import { SetupError } from '../../../src/errors.ts'
import { readMigrations } from '../../../src/storage/migrate.ts'
import { parsePostgresUrl } from '../../../src/storage/postgres/connection/url.ts'
import { openPostgresStorage } from '../../../src/storage/postgres/postgres-storage.ts'
import type { SchemaMigration, StorageOptions } from '../../../src/storage/storage.ts'
import { findFreePort } from '../../support/free-port.ts'
import { startPostgresProxy } from '../../support/postgres/postgres-proxy.ts'
import { postgresMissing, startPostgres } from '../../support/postgres/postgres-server.ts'
import { STORAGE_OPTIONS } from '../opened-storage.ts'
import { openDatabase, sharePostgres } from './temporary-database.ts'

/** Asserts that the start fails with one line, without the password of the URL, and returns that line. */
async function startErrorOf(url: string, options: Partial<StorageOptions> = {}): Promise<string> {
  const error = await openPostgresStorage(url, { ...STORAGE_OPTIONS, ...options }).then(
    (storage) => storage.close().then(() => assert.fail('it was opened')),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof SetupError, String(error))
  assert.ok(!error.message.includes('\n'))
  assert.ok(!/p%40ss|p@ss|secret/.test(error.message), error.message)
  return error.message
}

describe('the start on PostgreSQL', { skip: postgresMissing }, () => {
  const shared = sharePostgres()

  test('creates the schema once, however many processes start together', async (t) => {
    const url = await shared.server.createDatabase()
    const storages = await Promise.all(Array.from({ length: 10 }, () => openDatabase(t, url)))
    await Promise.all(storages.map(({ plants }, at) => plants.create({ id: BigInt(at), name: 'Rosa' })))
    const database = new URL(url).pathname.slice(1)
    assert.equal(
      await shared.server.query('SELECT version FROM migrations ORDER BY version', database),
      '1\n2\n3',
    )
  })

  test('reports a migration, and only that', async (t) => {
    const url = await shared.server.createDatabase()
    const [first] = readMigrations(new URL('../../../src/storage/postgres/migrations/', import.meta.url))
    assert.ok(first)
    const database = new URL(url).pathname.slice(1)
    await shared.server.query(
      `CREATE TABLE migrations (version integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz DEFAULT now());
      ${first.sql}
      INSERT INTO migrations (version, name) VALUES (1, '${first.name}')`,
      database,
    )
    const migrations: SchemaMigration[] = []
    const onMigrated = (migration: SchemaMigration) => void migrations.push(migration)
    for (let start = 0; start < 2; start++) await (await openDatabase(t, url, { onMigrated })).close()
    assert.equal(migrations.length, 1)
    const [{ durationMs, ...versions } = assert.fail()] = migrations
    assert.deepEqual(versions, { from: 1, to: 3 })
    assert.ok(durationMs >= 0 && durationMs < 60_000, String(durationMs))
  })

  test('needs no right to change a schema that is up to date', async (t) => {
    const { server } = shared
    const url = await server.createDatabase()
    const database = new URL(url).pathname.slice(1)
    assert.match(
      await startErrorOf(url, { migrate: false }),
      /lacks 0001-plants.*run "plantstore migrate" first/,
    )
    await (await openDatabase(t, url)).close()
    await server.query(
      "CREATE ROLE gardener LOGIN PASSWORD 'secret'; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO gardener",
      database,
    )
    for (const migrate of [true, false]) {
      const { plants, tokens } = await openDatabase(
        t,
        `postgres://gardener:secret@127.0.0.1:${server.port}/${database}`,
        { migrate },
      )
      assert.equal((await plants.replace(1n, { name: 'Rosa' })).outcome === 'mismatch', false)
      await plants.create({ id: 2n, name: 'Rosa' }, { caller: 'c', key: String(migrate), fingerprint: 'f' })
      await plants.delete(2n)
      assert.deepEqual(await tokens.list(), [])
    }
  })

  test('fails with one line that says what to correct, without a password', async (t) => {
    const { server } = shared
    const address = `127.0.0.1:${server.port}`
    assert.match(
      await startErrorOf(`postgres://postgres:secret@${address}/postgres`),
      /check user and password/,
    )
    assert.match(await startErrorOf(server.url('absent')), /there is no database absent/)
    assert.match(
      await startErrorOf(`postgres://a:secret@127.0.0.1:${await findFreePort()}/a`),
      /no server listens there/,
    )
    await server.query("CREATE DATABASE old ENCODING 'SQL_ASCII' TEMPLATE template0")
    assert.match(await startErrorOf(server.url('old')), /encoding SQL_ASCII/)
    assert.match(await startErrorOf(`${server.url()}?sslmode=require`), /does not support TLS/)
    const standby = await server.startStandby('standby')
    assert.match(await startErrorOf(standby.url()), /it is a read-only standby/)
    // With the primary beside it, that one is found.
    const both = server.url().replace(address, `127.0.0.1:${standby.port},${address}`)
    await (await openDatabase(t, both)).plants.create({ id: 1n, name: 'Rosa' })
  })

  test('times out if the database does not respond', async (t) => {
    const url = await shared.server.createDatabase()
    await (await openDatabase(t, url)).close()
    const sql = postgres(url, { max: 1 })
    await sql.begin(async (transaction) => {
      await transaction`LOCK TABLE migrations`
      const start = performance.now()
      assert.match(await startErrorOf(url, { postgresConnectTimeoutMs: 300 }), /did not respond in time/)
      assert.ok(performance.now() - start < 3_000)
    })
    await sql.end()
  })

  test('times out if a migration waits for a lock, and says which', async (t) => {
    const url = await shared.server.createDatabase()
    await (await openDatabase(t, url)).close()
    const sql = postgres(url, { max: 1 })
    t.after(() => sql.end())
    await sql`DROP TABLE tokens`
    await sql`DELETE FROM migrations WHERE version >= 2`
    const impatient = { postgresStatementTimeoutMs: 100 }
    await sql.begin(async (transaction) => {
      await transaction`LOCK TABLE migrations IN SHARE MODE`
      assert.match(await startErrorOf(url, impatient), /waited 100 ms for a lock that another session holds/)
    })
    await sql.begin(async (transaction) => {
      await transaction`SELECT pg_advisory_xact_lock(7152668311001)`
      assert.match(await startErrorOf(url, impatient), /waited 3000 ms for another process that migrates it/)
    })
    assert.equal((await sql`SELECT to_regclass('tokens')::text AS found`)[0]?.found, null)
    assert.deepEqual(await (await openDatabase(t, url)).tokens.list(), [])
  })

  test('fails in time if the server closes every connection', async (t) => {
    const proxy = await startPostgresProxy(t, shared.server.port)
    proxy.reject()
    for (const [query, reason] of [
      ['', /closed the connection/],
      // Without TLS nothing is asked before the session begins, so the connection seems to be there.
      ['?sslmode=disable', /did not respond in time/],
    ] as const) {
      const url = shared.server.url().replace(`:${shared.server.port}/`, `:${proxy.port}/`) + query
      const start = performance.now()
      assert.match(await startErrorOf(url, { postgresConnectTimeoutMs: 300 }), reason)
      assert.ok(performance.now() - start < 3_000)
    }
  })

  test('fails with one line if it loses its connection during a migration', async (t) => {
    const proxy = await startPostgresProxy(t, shared.server.port)
    const url = (await shared.server.createDatabase()).replace(`:${shared.server.port}/`, `:${proxy.port}/`)
    for (const match of ['pg_advisory_xact_lock', 'INSERT INTO migrations']) {
      const lost = proxy.cutAfterServerBytes(0, { match })
      assert.match(await startErrorOf(url), /^The database \S+ cannot be opened: /)
      await lost
    }
    assert.deepEqual(await (await openDatabase(t, url)).tokens.list(), [])
  })

  test('encrypts and checks the certificate if the URL says so', async (t) => {
    const server = await startPostgres(t, { tls: true })
    const certificate = encodeURIComponent(server.certificateFile ?? '')
    for (const query of ['sslmode=require', `sslmode=verify-full&sslrootcert=${certificate}`]) {
      const storage = await openDatabase(t, `${server.url()}?${query}`)
      await storage.plants.replace(1n, { name: 'Rosa' })
      assert.match(
        await server.query(
          "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'plantstore'",
        ),
        /^t/,
      )
      await storage.close()
    }
    assert.match(await startErrorOf(`${server.url()}?sslmode=verify-full`), /certificate/)
  })
})

test('the message for a malformed URL names the wrong part, and never contains the URL', () => {
  for (const [url, reason] of [
    ['postgres://', /has no user/],
    ['postgres://user:secret@host:99999/a', /host or port/],
    ['postgres://user:secret@host/a?sslmod=require', /parameter "sslmod"/],
    ['postgres://user:secret@host/a?sslmode=always', /sslmode must be one of/],
    ['postgres://user:secret@host/a?target_session_attrs=standby', /must be read-write/],
    ['postgres://user:secret@host/a?sslrootcert=/no/such/file', /sslrootcert cannot be read \(ENOENT\)/],
    ['postgres://user:sec@ret@host/a', /encode @/],
    ['postgres://user:%zz@host/a', /password is not percent-encoded/],
  ] as const) {
    assert.throws(
      () => parsePostgresUrl(url),
      (error) => error instanceof SetupError && reason.test(error.message) && !/sec/.test(error.message),
      url,
    )
  }
})
