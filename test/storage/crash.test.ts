import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { type ServiceProcess, startService } from '../support/process/service-process.ts'
import { temporaryFolder } from './sqlite/temporary-storage.ts'

const ROUNDS = 4
const CONNECTIONS = 8

/**
 * What a plant may be after a crash: as it was last acknowledged, or as the write on its way would make it.
 */
interface Expected {
  acknowledged: string
  possible: string[]
}

const ABSENT = 'absent'

/** A name whose loss of a part shows; of a size at which many plants share a page, or few. */
const wholeName = (id: number, text: string) => `${text} ${id} ${'🌱é'.repeat((id * 37) % 400)} end of ${id}`

/** Keeps one connection busy with creates, changes, replacements and deletions until the service is gone. */
async function load(
  service: ServiceProcess,
  firstId: number,
  expected: Map<number, Expected>,
  onDone: () => void,
) {
  async function write(id: number, next: string, method: string, path: string, body?: object): Promise<void> {
    const plant = expected.get(id) ?? { acknowledged: ABSENT, possible: [] }
    plant.possible = [plant.acknowledged, next]
    expected.set(id, plant)
    const { status } = await service.request(method, path, body)
    assert.ok(status === 200 || status === 204, `${method} ${path} gets ${status}`)
    plant.acknowledged = next
    plant.possible = [next]
    onDone()
  }
  try {
    for (let id = firstId; ; id += CONNECTIONS) {
      const name = wholeName(id, 'Rosa')
      const tag = `tag ${id % 7}`
      await write(id, JSON.stringify([name, tag]), 'POST', '/plants', { id, name, tag })
      const newName = wholeName(id, 'Iris')
      const kind = ((id / CONNECTIONS) % 6) | 0
      const path = `/plants/${id}`
      if (kind === 1) await write(id, JSON.stringify([newName, tag]), 'PATCH', path, { name: newName })
      if (kind === 2) await write(id, JSON.stringify([newName, null]), 'PUT', path, { name: newName })
      if (kind === 3) await write(id, ABSENT, 'DELETE', path)
    }
  } catch (error) {
    // What fetch throws when the connection is dropped.
    if (!(error instanceof TypeError)) throw error
  }
}

/** Every plant that the service has, by its id. */
async function storedPlants(service: ServiceProcess): Promise<Map<number, string>> {
  const stored = new Map<number, string>()
  let path = '/plants?limit=1000'
  for (;;) {
    const { status, body, headers } = await service.request('GET', path)
    assert.equal(status, 200)
    for (const { id, name, tag } of body as { id: number; name: string; tag?: string }[]) {
      stored.set(id, JSON.stringify([name, tag ?? null]))
    }
    const next = /<([^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
    if (next === undefined) return stored
    path = next
  }
}

/** Checks that what is stored was expected, and expects it from now on. */
function checkPlants(stored: Map<number, string>, expected: Map<number, Expected>): void {
  for (const [id, { acknowledged, possible }] of expected) {
    const found = stored.get(id) ?? ABSENT
    assert.ok(
      possible.includes(found),
      `plant ${id} is ${found.slice(0, 80)}, was acknowledged as ${acknowledged.slice(0, 80)}`,
    )
    expected.set(id, { acknowledged: found, possible: [found] })
    stored.delete(id)
  }
  assert.equal(stored.size, 0, 'nothing is there that nobody sent')
}

describe('a service that is killed under load', () => {
  test('has every acknowledged write, and no partial one, after the next start', async (t) => {
    const database = join(temporaryFolder(t), 'plants.db')
    const expected = new Map<number, Expected>()
    let service = await startService(t, { database })
    for (let round = 0; round < ROUNDS; round++) {
      let done = 0
      const enough = Promise.withResolvers<void>()
      const loads = Array.from({ length: CONNECTIONS }, (_, connection) =>
        load(service, round * 1_000_000 + connection, expected, () => {
          // At another moment of the work in each round; it is never idle.
          if (++done === 150 + round * 170) enough.resolve()
        }),
      )
      await Promise.race([enough.promise, Promise.all(loads)])
      await service.crash()
      await Promise.all(loads)

      service = await startService(t, { database, environment: { PLANTSTORE_CHECK_ON_START: 'true' } })
      checkPlants(await storedPlants(service), expected)
    }
    assert.ok(expected.size > 500)
    assert.equal(await service.stop(), 0)
  })

  test('responds to a repeated create as the first time, or performs it if it was not stored', async (t) => {
    const database = join(temporaryFolder(t), 'plants.db')
    const service = await startService(t, { database })
    const create = (of: ServiceProcess, id: number) =>
      of.request('POST', '/plants', { id, name: `Rosa ${id}` }, { 'idempotency-key': `key-${id}` })
    const entityTags = new Map<number, string | null>()
    const sent: Promise<void>[] = []
    for (let id = 1; id <= 200; id++) {
      const responded = create(service, id).then(
        ({ status, headers }) => {
          assert.equal(status, 200)
          entityTags.set(id, headers.get('etag'))
        },
        () => {},
      )
      sent.push(responded)
      if (id === 100) await responded
    }
    await service.crash()
    await Promise.all(sent)
    assert.ok(entityTags.size > 0)

    const again = await startService(t, { database })
    const ids = Array.from({ length: 200 }, (_, at) => at + 1)
    await Promise.all(
      ids.map(async (id) => {
        const { status, headers, body } = await create(again, id)
        assert.equal(status, 200, `create ${id}`)
        assert.deepEqual(body, { name: `Rosa ${id}` })
        const entityTag = headers.get('etag')
        assert.equal(entityTag, entityTags.get(id) ?? entityTag)
        assert.equal((await again.request('GET', `/plants/${id}`)).headers.get('etag'), entityTag)
      }),
    )
    const other = await again.request(
      'POST',
      '/plants',
      { id: 1, name: 'other' },
      { 'idempotency-key': 'key-1' },
    )
    assert.equal((other.body as { error: number }).error, 42201)
  })
})
