import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { AppError, type WriteOutcome } from '../../../src/errors.ts'
import type { NewPlant } from '../../../src/plants/plant.ts'
import type { ImportOptions, PlantStore } from '../../../src/plants/plant-store.ts'
import type { StorageOptions } from '../../../src/storage/storage.ts'
import { keepTrying } from '../../support/keep-trying.ts'
import { startPostgresProxy } from '../../support/postgres/postgres-proxy.ts'
import { postgresMissing } from '../../support/postgres/postgres-server.ts'
import { openDatabase, sharePostgres } from './temporary-database.ts'

const KEEP: ImportOptions = { onConflict: 'keep', dryRun: false }
const REPLACE: ImportOptions = { onConflict: 'replace', dryRun: false }

const roses = (count: number): NewPlant[] =>
  Array.from({ length: count }, (_, at) => ({ id: BigInt(at), name: `Rosa ${at}`, tag: 'shrub' }))

async function isStored(plants: PlantStore): Promise<boolean> {
  return (await plants.list({ limit: 1 })).plants.length > 0
}

function isUnavailable(outcome: WriteOutcome): (error: unknown) => boolean {
  return (error) => error instanceof AppError && error.code === 50302 && error.details?.outcome === outcome
}

describe('import and export on a failing database', { skip: postgresMissing }, () => {
  const shared = sharePostgres()

  async function openBehindProxy(t: TestContext, options: Partial<StorageOptions> = {}) {
    const { server } = shared
    const url = await server.createDatabase()
    const proxy = await startPostgresProxy(t, server.port)
    const storage = await openDatabase(t, url.replace(`:${server.port}/`, `:${proxy.port}/`), options)
    return { url, proxy, ...storage }
  }

  for (const [name, options, statement] of [
    ['keeps', KEEP, 'INSERT INTO plants'],
    ['replaces', REPLACE, 'INSERT INTO plants'],
  ] as const) {
    test(`a chunk that ${name} and was rolled back for another transaction is retried`, async (t) => {
      const { proxy, plants } = await openBehindProxy(t)
      const importing = plants.openImport(options)
      for (const sqlstate of ['40001', '40P01']) {
        const responded = proxy.respondToNext(sqlstate, { match: statement })
        assert.equal((await importing.add(roses(1000))).length, 1000)
        await responded
      }
      assert.equal((await plants.list({ limit: 2000 })).plants.length, 1000)
    })

    test(`a chunk that ${name} and fails midway stores nothing, and the next one works`, async (t) => {
      const { plants } = await openBehindProxy(t)
      const importing = plants.openImport(options)
      // A text that no server takes.
      await assert.rejects(importing.add([...roses(999), { id: 999n, name: '\0' }]), isUnavailable('none'))
      assert.equal(await isStored(plants), false)
      assert.equal((await importing.add(roses(1000))).filter((one) => one === 'created').length, 1000)
    })
  }

  test('a chunk whose response is lost fails with an unknown outcome', async (t) => {
    const { proxy, plants } = await openBehindProxy(t)
    await plants.list({ limit: 1 })
    const importing = plants.openImport(KEEP)
    const lost = proxy.cutAfterServerBytes(0, { match: 'INSERT INTO plants' })
    await assert.rejects(importing.add(roses(100)), isUnavailable('unknown'))
    await lost
    await keepTrying(async () =>
      assert.deepEqual(new Set(await importing.add(roses(100))), new Set(['kept'])),
    )
  })

  test('two replicas import the same plants in different orders at the same time without a deadlock', async (t) => {
    const { url, plants } = await openBehindProxy(t)
    const other = (await openDatabase(t, url)).plants
    for (const options of [KEEP, REPLACE, REPLACE]) {
      const outcomes = await Promise.all(
        [plants, other].map(async (store, at) => {
          const importing = store.openImport(options)
          const all = roses(3000).map((plant) => ({ ...plant, name: `${plant.name} of ${at}` }))
          const steps = [0, 1000, 2000].map((from) => all.slice(from, from + 1000))
          if (at === 1) for (const step of steps.reverse()) step.reverse()
          return (await Promise.all(steps.map((step) => importing.add(step)))).flat()
        }),
      )
      const created = outcomes.flat().filter((outcome) => outcome === 'created').length
      assert.equal(created, options === KEEP ? 3000 : 0)
    }
    assert.equal((await plants.list({ limit: 10_000 })).plants.length, 3000)
    assert.doesNotMatch(shared.server.log, /deadlock/)
  })

  test('an export that loses its connection fails with 50302, and never continues with other plants', async (t) => {
    const { proxy, plants } = await openBehindProxy(t)
    const importing = plants.openImport(KEEP)
    for (const from of [0, 1000, 2000]) {
      await importing.add(roses(1000).map((plant) => ({ ...plant, id: plant.id + BigInt(from) })))
    }
    const connections = proxy.connections
    // What begins an export is tried again.
    for (const [match, times] of [
      ['DECLARE', 2],
      ['FETCH', 1],
    ] as const) {
      const steps = plants.exportPlants({})[Symbol.asyncIterator]()
      if (match === 'FETCH') await steps.next()
      for (let time = 0; time < times; time++) void proxy.cutAfterServerBytes(0, { match })
      await assert.rejects(async () => {
        while (!(await steps.next()).done);
      }, isUnavailable('none'))
      await keepTrying(() => assert.ok(proxy.connections <= connections))
    }
    let count = 0
    for await (const step of plants.exportPlants({})) count += step.length
    assert.equal(count, 3000)
    await keepTrying(() => assert.ok(proxy.connections <= connections))
  })

  test('an export may take longer than the statement timeout, and idle longer than the idle timeout', async (t) => {
    const { server } = shared
    const url = await server.createDatabase()
    const database = new URL(url).pathname.slice(1)
    const { plants } = await openDatabase(t, url, { postgresStatementTimeoutMs: 200 })
    // Of sessions that begin later, as that of an export does; making the tables took as long as it took.
    await server.query(`ALTER DATABASE ${database} SET idle_in_transaction_session_timeout = '100ms'`)
    const importing = plants.openImport(KEEP)
    for (const from of [0, 1000, 2000]) {
      await importing.add(roses(1000).map((plant) => ({ ...plant, id: plant.id + BigInt(from) })))
    }
    let count = 0
    for await (const step of plants.exportPlants({})) {
      count += step.length
      // What takes the time is a consumer that does not ask.
      if (count < 2000) await pause(300)
    }
    assert.equal(count, 3000)
  })
})
