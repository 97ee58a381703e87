import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { eventually } from '../eventually.ts'
import type { Lifetime } from '../http/start-app.ts'
import { type PostgresServer, postgresMissing, startPostgres } from './postgres-server.ts'

const TABLE = 'CREATE TABLE plant (id bigint PRIMARY KEY)'

/** A lifetime that ends when the test says so. */
function shortLifetime(): { owner: Lifetime; end: () => Promise<void> } {
  const finishes: (() => void | Promise<void>)[] = []
  return {
    owner: { after: (finish) => void finishes.push(finish) },
    async end() {
      for (const finish of finishes) await finish()
    },
  }
}

/** The folder of a server, and whether the segment of shared memory that it holds is there. */
async function traceOf(server: PostgresServer) {
  const data = await server.query('SHOW data_directory')
  const [, id] = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[6]?.trim().split(/\s+/) ?? []
  assert.ok(id)
  const segments = () => execFileSync('ipcs', ['-m'], { encoding: 'utf8' }).split(/\s+/)
  return { folder: dirname(data), hasSegment: () => segments().includes(id) }
}

describe('a PostgreSQL of the tests', { skip: postgresMissing }, () => {
  test('keeps what was committed when it is killed and started again', async (t) => {
    const server = await startPostgres(t)
    const url = await server.createDatabase()
    const database = new URL(url).pathname.slice(1)
    assert.equal(url, server.url(database))
    await server.query(TABLE, database)
    await server.query('INSERT INTO plant VALUES (9007199254740993)', database)
    // A session that is busy would outlive a postmaster that was killed alone.
    const busy = assert.rejects(server.query('SELECT pg_sleep(60)', database))
    await eventually(
      async () =>
        (await server.query("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'")) === '1',
    )
    await server.kill()
    await busy
    await assert.rejects(server.query('SELECT 1'), /Connection refused/)
    await server.start()
    assert.equal(await server.query('SELECT id FROM plant', database), '9007199254740993')
    assert.match(server.log, /automatic recovery in progress/)
    await server.stop('fast')
    await server.start()
    await server.stop('immediate')
    await server.start()
    assert.equal(await server.query('SELECT id FROM plant', database), '9007199254740993')
  })

  test('does not sync, uses UTF-8 and requires the password', async (t) => {
    const server = await startPostgres(t, { settings: { max_connections: '17' } })
    assert.equal(await server.query('SHOW fsync'), 'off')
    assert.equal(await server.query('SHOW server_encoding'), 'UTF8')
    assert.equal(await server.query('SHOW max_connections'), '17')
    assert.throws(
      () => execFileSync('psql', ['-d', server.url().replace(/:[^:@]+@/, ':wrong@')], { stdio: 'pipe' }),
      /password authentication failed/,
    )
  })

  test('accepts TLS with its certificate', async (t) => {
    const server = await startPostgres(t, { tls: true })
    assert.ok(server.certificateFile)
    const url = `${server.url()}?sslmode=verify-full&sslrootcert=${server.certificateFile}`
    const sql = 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()'
    assert.equal(execFileSync('psql', ['-At', '-d', url, '-c', sql], { encoding: 'utf8' }), 't\n')
  })

  test('has a synchronous standby that holds each commit and can take its place', async (t) => {
    const primary = await startPostgres(t)
    const standby = await primary.startStandby('reserve')
    await primary.makeSynchronous(['reserve'])
    await primary.query(TABLE)
    await primary.query('INSERT INTO plant VALUES (1)')
    await assert.rejects(standby.query('INSERT INTO plant VALUES (2)'), /read-only transaction/)
    await primary.kill()
    await standby.promote()
    await standby.query('INSERT INTO plant VALUES (2)')
    assert.equal(await standby.query('SELECT id FROM plant ORDER BY id'), '1\n2')
  })

  test('delays commits while its synchronous standby is down', async (t) => {
    const primary = await startPostgres(t)
    const standby = await primary.startStandby('reserve')
    await primary.makeSynchronous(['reserve'])
    await standby.stop('fast')
    let isCommitted = false
    const commit = primary.query(TABLE).then(() => {
      isCommitted = true
    })
    await eventually(
      async () =>
        (await primary.query("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")) === '1',
    )
    assert.equal(isCommitted, false)
    await standby.start()
    await commit
    await primary.makeSynchronous([])
  })

  test('leaves no process, folder or shared memory, killed or not', async () => {
    const { owner, end } = shortLifetime()
    const running = await startPostgres(owner)
    const killed = await startPostgres(owner)
    const traces = [await traceOf(running), await traceOf(killed)]
    await killed.kill()
    assert.ok(traces.every(({ folder, hasSegment }) => existsSync(folder) && hasSegment()))
    await end()
    assert.ok(!traces.some(({ folder, hasSegment }) => existsSync(folder) || hasSegment()))
    await assert.rejects(running.query('SELECT 1'))
  })

  test('ends with the process of the tests, even if that is killed', {
    skip: process.platform === 'linux' ? false : 'only Linux signals the death of the parent to a process',
  }, async () => {
    const script = `
      import { startPostgres } from ${JSON.stringify(new URL('./postgres-server.ts', import.meta.url).href)}
      const server = await startPostgres({ after() {} })
      console.log(JSON.stringify([server.port, await server.query('SHOW data_directory')]))
      setInterval(() => {}, 60_000)`
    const tests = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [line] = await once(tests.stdout, 'data')
    const [port, data] = JSON.parse(String(line)) as [number, string]
    try {
      tests.kill('SIGKILL')
      await eventually(() => !existsSync(join(data, 'postmaster.pid')))
      await assert.rejects(once(connect(port, '127.0.0.1'), 'connect'), /ECONNREFUSED/)
    } finally {
      rmSync(dirname(data), { recursive: true, force: true })
    }
  })

  test('fails with the log of the server if that does not start', async (t) => {
    await assert.rejects(
      startPostgres(t, { settings: { max_connections: 'many' } }),
      /did not come up, and logged:[\s\S]*invalid value for parameter "max_connections"/,
    )
  })
})
