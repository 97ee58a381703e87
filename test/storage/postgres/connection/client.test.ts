import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import postgres from 'postgres'
import { AppError } from '../../../../src/errors.ts'
import {
  createPostgresClient,
  type PostgresClientOptions,
} from '../../../../src/storage/postgres/connection/client.ts'
import { createConnector } from '../../../../src/storage/postgres/connection/connector.ts'
import { parsePostgresUrl } from '../../../../src/storage/postgres/connection/url.ts'
import { keepTrying } from '../../../support/keep-trying.ts'
import { postgresMissing, startPostgres } from '../../../support/postgres/postgres-server.ts'

const TIMEOUT_MS = 5_000
/** Longer than the whole file may run: no test ends because of it. */
const NEVER_MS = 3_600_000
const CANCEL = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"

function openClient(
  t: TestContext,
  url: string,
  limits: Pick<PostgresClientOptions, 'connections' | 'statementTimeoutMs'>,
) {
  const target = parsePostgresUrl(url)
  const client = createPostgresClient({
    ...limits,
    target,
    connector: createConnector(target, TIMEOUT_MS),
    connectTimeoutMs: TIMEOUT_MS,
    serverEndsStatements: false,
    prepare: true,
  })
  t.after(client.close)
  return client
}

describe('a commit that no standby has confirmed', { skip: postgresMissing }, () => {
  test('is not acknowledged, whatever else is written', async (t) => {
    const server = await startPostgres(t)
    const client = openClient(t, server.url(), { connections: 1, statementTimeoutMs: TIMEOUT_MS })
    await client.write((sql) => sql`CREATE TABLE counter (value integer)`)
    await server.query("ALTER SYSTEM SET synchronous_standby_names = 'absent'")
    await server.query('SELECT pg_reload_conf()')
    const admin = postgres(server.url(), { max: 1, onnotice: () => {} })
    t.after(() => admin.end())
    await keepTrying(async () => {
      const [row] = await admin`SHOW synchronous_standby_names`
      assert.equal(row?.synchronous_standby_names, 'absent')
    })
    const rejected = assert.rejects(
      client.write(async (sql) => {
        await sql`INSERT INTO counter VALUES (1)`
        // Begins when the server has said it, and before anybody has looked.
        void client.write(() => Promise.resolve())
      }),
      (error) => error instanceof AppError && error.details?.outcome === 'unknown',
    )
    await keepTrying(async () => assert.equal(await server.query(CANCEL), 't'))
    await rejected
    assert.equal(await server.query('SELECT value FROM counter'), '1')
  })
})

describe('a server that is down', { skip: postgresMissing, timeout: 60_000 }, () => {
  test('fails each of many reads at once, and serves reads again when it is back', async (t) => {
    const server = await startPostgres(t)
    const client = openClient(t, server.url(), { connections: 2, statementTimeoutMs: NEVER_MS })
    const read = () => client.read(async (sql) => (await sql`SELECT 1 AS one`)[0]?.one)
    await server.stop('immediate')
    for (let times = 0; times < 3; times++) {
      const reads = await Promise.allSettled(Array.from({ length: 20 }, read))
      for (const result of reads) {
        assert.ok(result.status === 'rejected' && result.reason instanceof AppError, result.status)
        assert.equal(result.reason.code, 50302)
      }
    }
    await server.start()
    assert.deepEqual(await Promise.all(Array.from({ length: 20 }, read)), Array(20).fill(1))
  })
})
