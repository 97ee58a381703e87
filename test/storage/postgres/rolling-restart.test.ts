import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, type TestContext, test } from 'node:test'
import { TOKEN } from '../../support/http/start-app.ts'
import { postgresMissing } from '../../support/postgres/postgres-server.ts'
import { startServe } from '../../support/process/plantstore-process.ts'
import { openDatabase, sharePostgres } from './temporary-database.ts'

const CLIENTS = 16
/** A request that no replica takes for so many tries has failed. */
const TRIES_MAX = 20

type Replica = Awaited<ReturnType<typeof startServe>>

function startReplica(t: TestContext, database: string): Promise<Replica> {
  return startServe(t, { environment: { PLANTSTORE_DATABASE: database } })
}

/** Creates a plant at one replica or the other, as a client with several addresses does. */
async function create(replicas: readonly Replica[], id: number): Promise<void> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const replica = replicas[(id + tries) % replicas.length] as Replica
    try {
      const response = await fetch(`${replica.url}/plants`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${TOKEN}`,
          'content-type': 'application/json',
          'idempotency-key': `plant-${id}`,
        },
        body: JSON.stringify({ id, name: `plant ${id}` }),
      })
      const text = await response.text()
      if (response.status === 200) return
      assert.ok(/"error":(?:50303|40902)/.test(text), `plant ${id}: ${response.status} ${text}`)
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error
      // Nobody listens there now, or the connection was closed before the response: the key makes it safe.
    }
  }
  assert.fail(`plant ${id} was taken by no replica`)
}

describe('replicas that are restarted one after the other', { skip: postgresMissing }, () => {
  const shared = sharePostgres()

  test('fail no request of a client that uses both', async (t) => {
    const database = await shared.server.createDatabase()
    const replicas = [await startReplica(t, database), await startReplica(t, database)]
    let isOver = false
    let nextId = 0
    const clients = Array.from({ length: CLIENTS }, async () => {
      while (!isOver) await create(replicas, nextId++)
    })
    for (const at of replicas.keys()) {
      const before = nextId
      const old = replicas[at] as Replica
      old.child.kill('SIGTERM')
      await once(old.child, 'exit')
      assert.equal(await old.exit, 0)
      replicas[at] = await startReplica(t, database)
      assert.ok(nextId > before, 'the other one served meanwhile')
    }
    isOver = true
    await Promise.all(clients)
    const { plants } = await openDatabase(t, database)
    const stored = new Set<bigint>()
    for (let isMore = true, afterId = -1n; isMore; ) {
      const page = await plants.list({ limit: 1000, afterId })
      for (const { id } of page.plants) stored.add(id)
      afterId = page.plants.at(-1)?.id ?? afterId
      isMore = page.hasMore
    }
    assert.equal(stored.size, nextId)
  })
})
