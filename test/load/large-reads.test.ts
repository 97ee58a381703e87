import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startAlteredApp } from '../support/http/start-altered-app.ts'
import type { Lifetime } from '../support/http/start-app.ts'
import { openWire, requestText, type Wire } from '../support/http/wire.ts'

const CONNECTIONS = 60

/** A megabyte blocks the event loop for some milliseconds, to read it and to write it as JSON. */
const LARGE_CHARACTERS = 1_000_000
const PAGE_PLANTS = 50

/** A service with large plants that counts the reads that have ended. */
async function startLargeApp(t: Lifetime) {
  const ended = { pages: 0, plants: 0 }
  const filled: Promise<unknown>[] = []
  const app = await startAlteredApp(t, {
    storage(real) {
      const { plants } = real
      const name = 'a'.repeat(LARGE_CHARACTERS / PAGE_PLANTS)
      filled.push(plants.create({ id: 1n, name: 'small' }))
      filled.push(plants.create({ id: 2n, name: 'a'.repeat(LARGE_CHARACTERS) }))
      for (let at = 0; at < PAGE_PLANTS; at++) filled.push(plants.create({ id: BigInt(100 + at), name }))
      return {
        ...real,
        plants: {
          ...plants,
          list: (query, options) => plants.list(query, options).finally(() => ended.pages++),
          get: (id, options) => plants.get(id, options).finally(() => ended.plants++),
        },
      }
    },
  })
  await Promise.all(filled)
  return { ended, app }
}

/** Connections that were used before: the service accepts only one new connection a turn of the event loop. */
async function openUsed(t: Lifetime, port: number, count: number): Promise<Wire[]> {
  const wires = await Promise.all(Array.from({ length: count }, () => openWire(t, port)))
  await Promise.all(wires.map((wire) => wire.assertUsable()))
  return wires
}

for (const [what, path, small] of [
  ['pages', '/plants?after=99', '/plants/1'],
  ['plants', '/plants/2', '/plants?limit=1'],
] as const) {
  test(`large ${what} that are requested on many connections at once leave room for other requests`, async (t) => {
    const { ended, app } = await startLargeApp(t)
    const wires = await openUsed(t, app.port, CONNECTIONS)
    const paths = ['/healthz', '/metrics', small]
    const others = await openUsed(t, app.port, paths.length)
    const before = ended[what]
    for (const wire of wires) wire.send(requestText(`GET ${path}`))
    for (const [at, wire] of others.entries()) wire.send(requestText(`GET ${paths[at]}`))
    for (const wire of others) assert.equal((await wire.response()).status, 200)
    const endedMeanwhile = ended[what] - before
    assert.ok(
      endedMeanwhile < CONNECTIONS / 2,
      `${endedMeanwhile} ${what} were read before the other requests had a response`,
    )
    for (const wire of wires) assert.equal((await wire.response()).status, 200)
    assert.equal(ended[what] - before, CONNECTIONS)
  })
}
