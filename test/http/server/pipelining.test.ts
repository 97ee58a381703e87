import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '../../support/eventually.ts'
import { startAlteredApp } from '../../support/http/start-altered-app.ts'
import type { Lifetime } from '../../support/http/start-app.ts'
import { openWire, requestText } from '../../support/http/wire.ts'

/** A service that makes a page when it is let go; pages are told apart by their limits. */
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
    async letGo(limit: number) {
      await eventually(() => held.has(limit))
      held.get(limit)?.()
      held.delete(limit)
    },
  }
}

const pageText = (limit: number) => requestText(`GET /plants?limit=${limit}`, { 'X-Request-Id': `r${limit}` })

test('of the reads on one connection eight run at a time, and all get a response in their order', async (t) => {
  const { wire, held, most, letGo } = await startHeldApp(t)
  const limits = Array.from({ length: 40 }, (_, at) => at + 1)
  wire.send(limits.map(pageText).join(''))
  await eventually(() => held.size === 8)
  // It makes no room: its response is held until those before it are sent.
  await letGo(8)
  for (const limit of limits) {
    if (limit !== 8) await letGo(limit)
    const { status, headers } = await wire.response()
    assert.deepEqual([status, headers['x-request-id']], [200, `r${limit}`])
  }
  assert.equal(most(), 8)
  await wire.assertUsable()
})

test('a write among reads waits for all before it, and those behind it wait for the write', async (t) => {
  const { wire, held, letGo } = await startHeldApp(t)
  const create = requestText('POST /plants', {}, '{"id":1,"name":"a"}')
  wire.send(pageText(1) + pageText(2) + create + pageText(3) + pageText(4))
  await eventually(() => held.size === 2)
  for (const limit of [1, 2]) {
    await letGo(limit)
    assert.equal((await wire.response()).body, '[]')
  }
  assert.equal((await wire.response()).body, '{"name":"a"}')
  await eventually(() => held.size === 2)
  for (const limit of [3, 4]) {
    await letGo(limit)
    assert.match((await wire.response()).body, /"id":1,/)
  }
  await wire.assertUsable()
})

test('who asks for much on many connections does not keep another from being served between', async (t) => {
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
