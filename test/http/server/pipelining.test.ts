import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '../../support/eventually.ts'
import { startAlteredApp } from '../../support/http/start-altered-app.ts'
import type { Lifetime } from '../../support/http/start-app.ts'
import { openWire, requestText } from '../../support/http/wire.ts'

/** A service that sends a page once it is released; pages are distinguished by their limits. */
async function startHeldApp(t: Lifetime) {
  const held = new Map<number, () => void>()
  let most = 0
  const app = await startAlteredApp(t, {
    storage: (real) => ({
      ...real,
      plants: {
        ...real.plants,
        async list(query) {
          const { promise, resolve } = Promise.withResolvers<void>()
          held.set(query.limit, resolve)
          most = Math.max(most, held.size)
          await promise
          return real.plants.list(query)
        },
      },
    }),
  })
  t.after(() => {
    for (const resolve of held.values()) resolve()
  })
  return {
    wire: await openWire(t, app.port),
    held,
    most: () => most,
    async release(limit: number) {
      await eventually(() => held.has(limit))
      held.get(limit)?.()
      held.delete(limit)
    },
  }
}

const pageText = (limit: number) => requestText(`GET /plants?limit=${limit}`, { 'X-Request-Id': `r${limit}` })

test('eight reads of a connection run at a time, and responses are sent in order', async (t) => {
  const { wire, held, most, release } = await startHeldApp(t)
  const limits = Array.from({ length: 40 }, (_, at) => at + 1)
  wire.send(limits.map(pageText).join(''))
  await eventually(() => held.size === 8)
  // It frees no slot: its response is held until those before it are sent.
  await release(8)
  for (const limit of limits) {
    if (limit !== 8) await release(limit)
    const { status, headers } = await wire.response()
    assert.deepEqual([status, headers['x-request-id']], [200, `r${limit}`])
  }
  assert.equal(most(), 8)
  await wire.assertUsable()
})

test('a pipelined write waits for all requests before it, and reads after it wait for the write', async (t) => {
  const { wire, held, release } = await startHeldApp(t)
  const create = requestText('POST /plants', {}, '{"id":1,"name":"a"}')
  wire.send(pageText(1) + pageText(2) + create + pageText(3) + pageText(4))
  await eventually(() => held.size === 2)
  for (const limit of [1, 2]) {
    await release(limit)
    assert.equal((await wire.response()).body, '[]')
  }
  assert.equal((await wire.response()).body, '{"name":"a"}')
  await eventually(() => held.size === 2)
  for (const limit of [3, 4]) {
    await release(limit)
    assert.match((await wire.response()).body, /"id":1,/)
  }
  await wire.assertUsable()
})

test('a client with many requests on many connections does not block another client', async (t) => {
  const [connections, each] = [20, 40]
  let begun = 0
  const app = await startAlteredApp(t, {
    storage: (real) => ({
      ...real,
      plants: {
        ...real.plants,
        list(query) {
          begun++
          return real.plants.list(query)
        },
      },
    }),
  })
  const greedy = await Promise.all(Array.from({ length: connections }, () => openWire(t, app.port)))
  const other = await openWire(t, app.port)
  // The system hands new connections to the service one in a turn of the event loop.
  for (const wire of [...greedy, other]) await wire.assertUsable()
  for (const wire of greedy) wire.send(pageText(1).repeat(each))
  other.send(requestText('GET /healthz'))
  assert.equal((await other.response()).status, 200)
  const begunAtHealth = begun
  assert.ok(begunAtHealth < (connections * each) / 2, `${begunAtHealth} pages were begun before`)
  for (const wire of greedy)
    for (let at = 0; at < each; at++) assert.equal((await wire.response()).status, 200)
})
