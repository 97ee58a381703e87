import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { keepTrying } from '../../support/keep-trying.ts'
import {
  type PostgresServer,
  postgresMissing,
  startPostgres,
} from '../../support/postgres/postgres-server.ts'
import { startServe } from '../../support/process/plantstore-process.ts'
import { type CreateReport, plantOf, startCreateLoad } from './create-load.ts'

const CLIENTS = 32
const REPLICAS = 2
const BACK_WITHIN_MS = 10_000
const LOAD_AROUND_MS = 500
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Requests the health of a replica until it is stopped; collects the statuses of the responses. */
function watchHealth(url: string) {
  const seen = { healthz: new Set<number>(), readyz: new Set<number>() }
  let isOver = false
  const watching = (['healthz', 'readyz'] as const).map(async (path) => {
    while (!isOver) {
      seen[path].add((await fetch(`${url}/${path}`)).status)
      await pause(20)
    }
  })
  return {
    seen,
    async stop() {
      isOver = true
      await Promise.all(watching)
    },
  }
}

/** Compares the responses to the clients with the stored plants. Returns the lost and the doubled ones. */
async function compare(report: CreateReport, server: PostgresServer) {
  const sample = plantOf(1n)
  const fields = `name = '${sample.name.replace('1', '')}' || id AND tag = '${sample.tag}'`
  const rows = (await server.query(`SELECT id, version FROM plants WHERE ${fields}`)).split('\n')
  const stored = new Map(
    rows.map((row) => row.split('|')).map(([id, version]) => [BigInt(id ?? ''), Number(version)]),
  )
  const acknowledged = [...report.acknowledged]
  return {
    lost: acknowledged.filter(([id]) => !stored.has(id)).map(([id]) => id),
    // One that is there with another version than was acknowledged was made a second time.
    doubled: acknowledged
      .filter(([id, version]) => stored.has(id) && stored.get(id) !== version)
      .map(([id]) => id),
    // Of what was said not to be stored.
    stored: [...report.notStored].filter((id) => stored.has(id)),
    strangers: [...stored.keys()].filter((id) => !report.acknowledged.has(id) && !report.unknown.has(id)),
    rows: rows.length - stored.size,
  }
}

describe('a primary that crashes', { skip: postgresMissing }, () => {
  test('loses no acknowledged write of two replicas when its synchronous standby takes over', async (t) => {
    const primary = await startPostgres(t)
    const standby = await primary.startStandby('standby')
    await primary.makeSynchronous(['standby'])
    const database = primary.url().replace(`:${primary.port}/`, `:${primary.port},127.0.0.1:${standby.port}/`)
    const environment = {
      PLANTSTORE_DATABASE: database,
      PLANTSTORE_POSTGRES_CONNECT_TIMEOUT_MS: '1000',
      PLANTSTORE_LOG_LEVEL: 'silent',
    }
    const replicas = await Promise.all(Array.from({ length: REPLICAS }, () => startServe(t, { environment })))
    const health = replicas.map(({ url }) => watchHealth(url))

    const load = startCreateLoad(
      replicas.map(({ url }) => url),
      CLIENTS,
    )
    t.after(() => load.stop())
    await keepTrying(() => assert.ok(load.report.acknowledged.size > 0))
    await pause(LOAD_AROUND_MS)
    const before = load.report.acknowledged.size
    await primary.kill()
    const killedMs = performance.now()
    // The program that supervises a cluster takes a while to be sure, too.
    await keepTrying(() => assert.ok(health.every(({ seen }) => seen.readyz.has(503))))
    await standby.promote()
    const promotedMs = performance.now()
    await keepTrying(() => assert.ok(load.lastAcknowledgedMs.every((lastMs) => lastMs > promotedMs)), {
      withinMs: BACK_WITHIN_MS,
    })
    const backMs = performance.now() - promotedMs
    await pause(LOAD_AROUND_MS)
    const report = await load.stop()
    await Promise.all(health.map(({ stop }) => stop()))

    const difference = await compare(report, standby)
    t.diagnostic(
      [
        `${report.acknowledged.size} acknowledged (${before} before)`,
        `${difference.lost.length} lost`,
        `${difference.doubled.length} doubled`,
        `${report.resolved.size} of unknown outcome resolved by their keys`,
        `${report.unknown.size} plain ones left unknown`,
        `${report.rejections} responses with 503 for ${Math.round(Math.max(...report.longestGapsMs))} ms`,
        `${report.others.length} other errors`,
        `promoted ${Math.round(promotedMs - killedMs)} ms after the kill, back ${Math.round(backMs)} ms later`,
      ].join(', '),
    )
    assert.deepEqual(report.others.slice(0, 3), [])
    assert.deepEqual(difference, { lost: [], doubled: [], stored: [], strangers: [], rows: 0 })
    assert.ok(report.rejections > 0)
    assert.ok(report.acknowledged.size > before)
    for (const { seen } of health) {
      assert.deepEqual([...seen.healthz], [200])
      assert.deepEqual([...seen.readyz].sort(), [200, 503])
    }
  })
})
