import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, type TestContext, test } from 'node:test'
import { readVersion } from '../../src/version.ts'
import { eventually } from '../support/eventually.ts'
import { startAlteredApp } from '../support/http/start-altered-app.ts'
import { type StartedApp, startApp, temporaryFolder } from '../support/http/start-app.ts'
import { metricsOf, sumOf } from '../support/metrics-text.ts'
import { postgresMissing, startPostgres } from '../support/postgres/postgres-server.ts'

const CREATES = 200

async function assertCommitsCounted(app: StartedApp, engine: string): Promise<void> {
  const creates = Array.from({ length: CREATES }, (_, at) =>
    app.send('POST', '/plants', `{"id":${at},"name":"a"}`),
  )
  for (const response of await Promise.all(creates)) assert.equal(response.status, 200)
  const metrics = await metricsOf(app)
  const labels = { engine, version: await readVersion(), node: process.version }
  assert.equal(sumOf(metrics, 'plantstore_build_info', labels), 1)
  const commits = sumOf(metrics, 'plantstore_commit_duration_seconds_count')
  assert.ok(commits > 0 && commits <= CREATES, `${commits} commits`)
  assert.ok(sumOf(metrics, 'plantstore_commit_duration_seconds_sum') > 0)
  assert.equal(sumOf(metrics, 'plantstore_commit_writes_count'), commits)
  assert.equal(sumOf(metrics, 'plantstore_commit_writes_sum'), CREATES)
  assert.equal(sumOf(metrics, 'plantstore_commit_failures_total'), 0)
  assert.equal(sumOf(metrics, 'plantstore_queued_writes'), 0)
  assert.equal(sumOf(metrics, 'plantstore_running_exports'), 0)
  assert.ok(sumOf(metrics, 'plantstore_http_connections') >= 1)
  assert.ok(sumOf(metrics, 'process_resident_memory_bytes') > 1_000_000)
  assert.ok(sumOf(metrics, 'plantstore_event_loop_lag_seconds_count') > 0)
}

test('commits, and the writes that shared them, are counted on SQLite', async (context) => {
  await assertCommitsCounted(await startApp(context), 'sqlite')
})

test('the time of the newest backup is reported with backups, after a restart, too', async (context) => {
  const without = await metricsOf(await startApp(context))
  assert.ok(!without.has('plantstore_last_backup_timestamp_seconds'))
  const folder = temporaryFolder(context)
  const open = async () => {
    const app = await startApp(context, { PLANTSTORE_BACKUP_DIR: folder })
    return async (name: string) => sumOf(await metricsOf(app), `plantstore_${name}_seconds`)
  }
  const anHourAgo = new Date(Date.now() - 3_600_000)
  const nameOf = (time: string) => join(folder, `plantstore-${time.replace(/[-:.]/g, '')}.db`)
  writeFileSync(nameOf(anHourAgo.toISOString()), 'one')
  writeFileSync(nameOf('9999-01-01T00:00:00.000Z'), 'one of a clock that was ahead')
  const first = await open()
  assert.equal(await first('last_backup_timestamp'), anHourAgo.getTime() / 1000)
  assert.equal(await first('backup_interval'), 86_400)
  rmSync(nameOf(anHourAgo.toISOString()))
  assert.equal(await first('last_backup_timestamp'), 0)
  const second = await open()
  await eventually(async () => (await second('last_backup_timestamp')) > anHourAgo.getTime() / 1000, 20_000)
})

test('the search backlog is the one in the file', async (context) => {
  const app = await startApp(context)
  const backlog = async () => sumOf(await metricsOf(app), 'plantstore_search_backlog_plants')
  await app.send('POST', '/plants', '{"id":1,"name":"a"}')
  await eventually(async () => (await backlog()) === 0)
  // The indexer looks for batches when it has written some.
  const database = new DatabaseSync(app.database, { timeout: 5_000 })
  database
    .prepare('INSERT INTO unindexed_batches (plant_ids) VALUES (?), (?)')
    .run(new Uint8Array(24), new Uint8Array(8))
  database.close()
  assert.equal(await backlog(), 4)
})

test('queued writes and running exports are read at the scrape, and a failed commit is counted', async (context) => {
  const app = await startAlteredApp(context, {
    storage: (real) => ({
      ...real,
      activity: {
        ...real.activity,
        onCommit: (onCommit) => onCommit({ operations: 3, durationMs: 1, isDurable: false }),
        queuedWrites: () => 17,
        runningExports: () => 2,
        unindexedPlants() {
          throw new Error('the file cannot be read')
        },
      },
    }),
  })
  const metrics = await metricsOf(app)
  assert.equal(sumOf(metrics, 'plantstore_queued_writes'), 17)
  assert.equal(sumOf(metrics, 'plantstore_running_exports'), 2)
  assert.equal(sumOf(metrics, 'plantstore_commit_failures_total'), 1)
  assert.equal(sumOf(metrics, 'plantstore_commit_writes_count'), 0)
  assert.deepEqual(metrics.get('plantstore_search_backlog_plants')?.samples, [])
})

describe('on PostgreSQL', { skip: postgresMissing }, () => {
  test('commits are counted, and those that fail while the database is down, which leaves the metrics readable', async (context: TestContext) => {
    const server = await startPostgres(context)
    const app = await startApp(context, {
      PLANTSTORE_DATABASE: await server.createDatabase(),
      PLANTSTORE_POSTGRES_CONNECT_TIMEOUT_MS: '500',
      PLANTSTORE_POSTGRES_STATEMENT_TIMEOUT_MS: '500',
    })
    await assertCommitsCounted(app, 'postgres')
    await server.stop('immediate')
    assert.equal((await app.send('POST', '/plants', '{"id":-1,"name":"a"}')).status, 503)
    const metrics = await metricsOf(app)
    assert.ok(sumOf(metrics, 'plantstore_commit_failures_total') > 0)
    assert.equal(sumOf(metrics, 'plantstore_rejections_total', { error: '50302' }), 1)
  })
})
