import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AppError } from '../../../src/errors.ts'
import { postgresMissing, startPostgres } from '../../support/postgres-server.ts'
import { openDatabase } from './temporary-database.ts'

const CLIENTS = 32
const BACK_WITHIN_MS = 10_000
const LOAD_AROUND_MS = 500
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

describe('a primary that dies', { skip: postgresMissing }, () => {
  test('loses nothing that was acknowledged: its synchronous standby takes over', async (t) => {
    const primary = await startPostgres(t)
    const standby = await primary.startStandby('standby')
    await primary.makeSynchronous(['standby'])
    const url = primary.url().replace(`:${primary.port}/`, `:${primary.port},127.0.0.1:${standby.port}/`)
    const { plants } = await openDatabase(t, url, { postgresConnectTimeoutMs: 1_000 })

    const acknowledged = new Set<bigint>()
    const others: unknown[] = []
    let refusals = 0
    let nextId = 0n
    let lastCreatedMs = 0
    let isOver = false
    const clients = Array.from({ length: CLIENTS }, async () => {
      while (!isOver) {
        const id = nextId++
        try {
          const { outcome } = await plants.create({ id, name: `plant ${id}`, tag: 'failover' })
          if (outcome === 'created') acknowledged.add(id)
          else others.push(outcome)
          lastCreatedMs = performance.now()
        } catch (error) {
          if (error instanceof AppError && error.code === 50302) refusals++
          else others.push(error)
          await pause(20)
        }
      }
    })
    await pause(LOAD_AROUND_MS)
    const before = acknowledged.size
    assert.ok(before > 0)
    await primary.kill()
    const killedMs = performance.now()
    await standby.promote()
    while (lastCreatedMs < killedMs + 1 && performance.now() < killedMs + BACK_WITHIN_MS) await pause(10)
    const backMs = lastCreatedMs - killedMs
    await pause(LOAD_AROUND_MS)
    isOver = true
    await Promise.all(clients)

    assert.ok(backMs > 0 && backMs < BACK_WITHIN_MS, `no create succeeded within ${BACK_WITHIN_MS} ms`)
    assert.deepEqual(others, [])
    assert.ok(refusals > 0)
    assert.ok(acknowledged.size > before)
    const whole = "SELECT id FROM plants WHERE name = 'plant ' || id AND tag = 'failover'"
    const rows = (await standby.query(whole)).split('\n')
    const stored = new Set(rows.map(BigInt))
    const missing = [...acknowledged].filter((id) => !stored.has(id))
    assert.deepEqual(missing, [])
    assert.equal(stored.size, rows.length)
    t.diagnostic(
      `${acknowledged.size} acknowledged, 0 missing, ${refusals} refused, back after ${Math.round(backMs)} ms`,
    )
  })
})
