import assert from 'node:assert/strict'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { AppError } from '../../src/errors.ts'
import { createReadTurns } from '../../src/load/read-turns.ts'
import type { StoredPlant } from '../../src/plants/plant.ts'
import { eventually } from '../support/eventually.ts'
import { startAlteredApp } from '../support/http/start-altered-app.ts'
import type { Lifetime } from '../support/http/start-app.ts'
import { openWire, requestText, type Wire } from '../support/http/wire.ts'

/** How long a read holds up the event loop here, as a large page does. */
const READ_MS = 4

const CONNECTIONS = 100

function holdUp(ms = READ_MS): void {
  const endMs = performance.now() + ms
  while (performance.now() < endMs);
}

/** A service whose reads take long without letting anybody else in between, and counts them. */
async function startSlowApp(t: Lifetime) {
  const begun = { pages: 0, plants: 0 }
  const plant: StoredPlant = { id: 2n, name: 'a', version: 1, createdAtMs: 0, updatedAtMs: 0 }
  const app = await startAlteredApp(t, {
    storage: (real) => ({
      ...real,
      plants: {
        ...real.plants,
        async list() {
          begun.pages++
          holdUp()
          return { plants: [plant], hasMore: false }
        },
        async get(id) {
          if (id === 1n) return plant
          begun.plants++
          holdUp()
          return plant
        },
      },
    }),
  })
  return { begun, app }
}

/** Connections that were used before: the system hands new ones to the service one in a turn of the event loop. */
async function openUsed(t: Lifetime, port: number, count: number): Promise<Wire[]> {
  const wires = await Promise.all(Array.from({ length: count }, () => openWire(t, port)))
  await Promise.all(wires.map((wire) => wire.assertUsable()))
  return wires
}

for (const [what, path, small] of [
  ['pages', '/plants?limit=1000', '/plants/1'],
  ['plants', '/plants/2', '/plants?limit=1'],
] as const) {
  test(`${what} that are asked for on many connections at once leave room for others between them`, async (t) => {
    const { begun, app } = await startSlowApp(t)
    const wires = await openUsed(t, app.port, CONNECTIONS)
    const paths = ['/healthz', '/metrics', small]
    const others = await openUsed(t, app.port, paths.length)
    for (const wire of wires) wire.send(requestText(`GET ${path}`))
    for (const [at, wire] of others.entries()) wire.send(requestText(`GET ${paths[at]}`))
    for (const wire of others) assert.equal((await wire.answer()).status, 200)
    const begunBefore = begun[what]
    assert.ok(
      begunBefore < CONNECTIONS / 2,
      `${begunBefore} ${what} were begun before the others were answered`,
    )
    for (const wire of wires) assert.equal((await wire.answer()).status, 200)
    assert.equal(begun[what], CONNECTIONS)
  })
}

test('a read whose client has gone away before its turn is not run', async () => {
  const takeTurn = createReadTurns()
  const requests = Array.from({ length: 3 }, () => new IncomingMessage(new Socket()))
  const begun: number[] = []
  await takeTurn(new IncomingMessage(new Socket()), async () => holdUp(30))
  const reads = requests.map((request, at) => takeTurn(request, async () => begun.push(at)))
  requests[1]?.socket.destroy()
  const results = await Promise.allSettled(reads)
  assert.deepEqual(begun, [0, 2])
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
})

test('no more reads are under way than may be, whether they end well or not, and each end lets the next one in', async () => {
  const takeTurn = createReadTurns({ underWayMax: 2 })
  const begun: PromiseWithResolvers<number>[] = []
  const ends = Array.from({ length: 5 }, () =>
    takeTurn(new IncomingMessage(new Socket()), () => {
      const read = Promise.withResolvers<number>()
      begun.push(read)
      return read.promise
    }),
  )
  const results = Promise.allSettled(ends)
  for (let at = 0; at < ends.length; at++) {
    const underWayMost = Math.min(at + 2, ends.length)
    await eventually(() => begun.length === underWayMost)
    await yieldToEventLoop()
    assert.equal(begun.length, underWayMost)
    if (at % 2 === 0) begun[at]?.resolve(at)
    else begun[at]?.reject(new Error('the disk'))
  }
  assert.deepEqual(
    (await results).map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled'],
  )
})

test('no more than 4,000 reads wait for their turn, and one more is refused', async () => {
  const takeTurn = createReadTurns()
  const request = new IncomingMessage(new Socket())
  await takeTurn(request, async () => holdUp(30))
  let run = 0
  const reads = Array.from({ length: 4_000 }, () => takeTurn(request, async () => run++))
  await assert.rejects(
    takeTurn(request, async () => run++),
    (error) => error instanceof AppError && error.code === 50301 && error.reason === 'queued-reads',
  )
  await Promise.all(reads)
  assert.equal(run, 4_000)
  assert.equal(await takeTurn(request, async () => 'at once'), 'at once')
})

test('of pages 16 are made at a time, however many connections ask, and searches do not wait for them', async (t) => {
  const held: (() => void)[] = []
  let searches = 0
  const app = await startAlteredApp(t, {
    storage: (real) => ({
      ...real,
      plants: {
        ...real.plants,
        async list({ words }) {
          if (words !== undefined) searches++
          else await new Promise<void>((resolve) => held.push(resolve))
          return { plants: [], hasMore: false }
        },
      },
    }),
  })
  t.after(() => {
    for (const resolve of held) resolve()
  })
  const wires = await openUsed(t, app.port, 40)
  for (const wire of wires) wire.send(requestText('GET /plants'))
  await eventually(() => held.length === 16)
  assert.equal((await app.fetch('/plants?q=quercus')).status, 200)
  assert.deepEqual([held.length, searches], [16, 1])
  for (let answered = 0; answered < wires.length; answered++) {
    await eventually(() => held.length > answered)
    assert.ok(held.length <= answered + 16)
    held[answered]?.()
  }
  for (const wire of wires) assert.equal((await wire.answer()).status, 200)
})

test('of lists of tags 16 are made at a time', async (t) => {
  const held: (() => void)[] = []
  const app = await startAlteredApp(t, {
    storage: (real) => ({
      ...real,
      plants: {
        ...real.plants,
        async countTags() {
          await new Promise<void>((resolve) => held.push(resolve))
          return []
        },
      },
    }),
  })
  t.after(() => {
    for (const resolve of held) resolve()
  })
  const wires = await openUsed(t, app.port, 20)
  for (const wire of wires) wire.send(requestText('GET /tags'))
  await eventually(() => held.length === 16)
  for (let answered = 0; answered < wires.length; answered++) {
    await eventually(() => held.length > answered)
    assert.ok(held.length <= answered + 16)
    held[answered]?.()
  }
  for (const wire of wires) assert.equal((await wire.answer()).status, 200)
})
