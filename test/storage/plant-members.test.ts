import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import {
  createPlantStoreClient,
  type NewPlant,
  type PlantStoreClient,
} from '../../src/client/plant-store-client.ts'
import { fingerprintOf } from '../../src/plants/idempotency-key.ts'
import { NewPlantSchema, type PlantContent, PlantSchema } from '../../src/plants/plant.ts'
import { charactersIn } from '../../src/storage/plant-columns.ts'
import { restorePlant } from '../../web/app/plant/restore-plant.ts'
import { runCommand } from '../cli/run-command.ts'
import { startApp, TOKEN } from '../support/http/start-app.ts'
import { postgresMissing } from '../support/postgres/postgres-server.ts'
import { sharePostgres } from './postgres/temporary-database.ts'
import { temporaryFolder } from './sqlite/temporary-storage.ts'

// Every member that the schema has, whatever they are: a new one is tested here without a change.

const MEMBERS = Object.keys(PlantSchema.properties) as (keyof PlantContent)[]
const REQUIRED: readonly string[] = PlantSchema.required
const OPTIONAL = MEMBERS.filter((member) => !REQUIRED.includes(member))

/** A text of the member's own, with what CSV, JSON and arrays of PostgreSQL have to escape. */
const textOf = (member: string, of: string) => `${member} of ${of}: "a", {b}\\ ×é\n🌱`

function contentOf(of: string, members: readonly string[] = MEMBERS): PlantContent {
  const texts = members.map((member) => [member, textOf(member, of)])
  return Object.fromEntries(texts) as PlantContent
}

const plantOf = (id: bigint, members?: readonly string[]): NewPlant => ({
  id,
  ...contentOf(String(id), members),
})

/** The plants of an import or an export: one with every member, one with the required ones alone. */
const PLANTS = [plantOf(1n), plantOf(2n, REQUIRED)]

/** The content of each plant that is stored, with its id. */
async function storedIn(client: PlantStoreClient): Promise<NewPlant[]> {
  const stored: NewPlant[] = []
  for await (const plant of client.listPlants()) {
    const { createdAt, updatedAt, ...rest } = plant
    stored.push(rest)
  }
  return stored
}

function csvOf(plants: readonly NewPlant[]): string {
  const cellOf = (text = '') => `"${text.replaceAll('"', '""')}"`
  const row = (plant: NewPlant) => [plant.id, ...MEMBERS.map((member) => cellOf(plant[member]))].join()
  return plants.map((plant) => `${row(plant)}\r\n`).join('')
}

async function textOfStream(stream: ReadableStream<Uint8Array>): Promise<string> {
  return new Response(stream).text()
}

interface Service {
  client: PlantStoreClient
  database: string
  stop(): Promise<void>
}

async function start(t: TestContext, database: string): Promise<Service> {
  const app = await startApp(t, { PLANTSTORE_DATABASE: database })
  const client = createPlantStoreClient({ baseUrl: app.url, token: TOKEN })
  return { client, database, stop: app.stop }
}

type NewDatabase = (t: TestContext) => Promise<string>

/** Each way that a plant can go, over the real service. */
function describeWays(newDatabase: NewDatabase, otherDatabase: NewDatabase): void {
  const startEmpty = async (t: TestContext) => start(t, await newDatabase(t))

  test('creates store every member', async (t) => {
    const { client } = await startEmpty(t)
    for (const plant of PLANTS) assert.partialDeepStrictEqual(await client.createPlant(plant), plant)
    assert.deepEqual(await storedIn(client), PLANTS)
  })

  test('a reused idempotency key must have every member as it was', async (t) => {
    const { client } = await startEmpty(t)
    const key = { idempotencyKey: 'key' }
    await client.createPlant(plantOf(1n), key)
    await client.createPlant(plantOf(1n), key)
    for (const member of MEMBERS) {
      const other = { ...plantOf(1n), [member]: 'other' }
      await assert.rejects(client.createPlant(other, key), { code: 42201 }, member)
    }
    assert.deepEqual(await storedIn(client), [plantOf(1n)])
  })

  test('replacing stores every member and removes missing ones', async (t) => {
    const { client } = await startEmpty(t)
    await client.replacePlant(1n, contentOf('new'))
    assert.deepEqual(await storedIn(client), [{ id: 1n, ...contentOf('new') }])
    await client.replacePlant(1n, contentOf('replaced'))
    assert.deepEqual(await storedIn(client), [{ id: 1n, ...contentOf('replaced') }])
    await client.replacePlant(1n, contentOf('bare', REQUIRED))
    assert.deepEqual(await storedIn(client), [{ id: 1n, ...contentOf('bare', REQUIRED) }])
  })

  test('an update changes the member that it names and no other', async (t) => {
    const { client } = await startEmpty(t)
    const expected: NewPlant = plantOf(1n)
    await client.createPlant(expected)
    for (const member of MEMBERS) {
      await client.updatePlant(1n, { [member]: `new ${member}` })
      expected[member] = `new ${member}`
      assert.deepEqual(await storedIn(client), [expected])
    }
    for (const member of OPTIONAL) {
      await client.updatePlant(1n, { [member]: null })
      delete (expected as Partial<NewPlant>)[member]
      assert.deepEqual(await storedIn(client), [expected])
    }
  })

  test('imports store every member', async (t) => {
    const { client } = await startEmpty(t)
    const withHeader = `id,${MEMBERS.join()}\r\n${csvOf(PLANTS)}`
    const imports = [
      () => client.importPlants(PLANTS, { onConflict: 'replace' }),
      () => client.importPlants(withHeader, { format: 'csv', onConflict: 'replace' }),
      () =>
        client.importPlants(csvOf(PLANTS), {
          format: 'csv',
          columns: ['id', ...MEMBERS],
          onConflict: 'replace',
        }),
    ]
    for (const runImport of imports) {
      for (const outcome of ['created', 'replaced'] as const) {
        assert.equal((await runImport())[outcome], 2)
        assert.deepEqual(await storedIn(client), PLANTS)
        // What is replaced has other members, in the other plant.
        for (const [at, { id }] of PLANTS.entries()) {
          const before = contentOf('before', at === 0 ? REQUIRED : MEMBERS)
          if (outcome === 'created') await client.replacePlant(id, before)
          else await client.deletePlant(id)
        }
      }
    }
  })

  test('exports have every member', async (t) => {
    const { client } = await startEmpty(t)
    const other = await start(t, await otherDatabase(t))
    for (const plant of PLANTS) await client.createPlant(plant)
    const exported: NewPlant[] = []
    for await (const { createdAt, updatedAt, ...plant } of client.exportPlants()) exported.push(plant)
    assert.deepEqual(exported, PLANTS)
    for (const format of ['ndjson', 'csv'] as const) {
      const text = await textOfStream(await client.exportPlants({ format }))
      for (const member of MEMBERS) assert.ok(text.includes(member), member)
      await other.client.importPlants(text, { format, onConflict: 'replace' })
      assert.deepEqual(await storedIn(other.client), PLANTS)
      for (const { id } of PLANTS) await other.client.deletePlant(id)
    }
  })

  test('copying a store copies every member', async (t) => {
    const from = await startEmpty(t)
    for (const plant of PLANTS) await from.client.createPlant(plant)
    await from.stop()
    const to = await otherDatabase(t)
    await succeed(t, 'copy', '--from', from.database, '--to', to)
    assert.deepEqual(await storedIn((await start(t, to)).client), PLANTS)
  })

  test('undoing a deletion restores every member', async (t) => {
    const { client } = await startEmpty(t)
    for (const plant of PLANTS) await client.createPlant(plant)
    for (const { id } of PLANTS) {
      const removed = await client.getPlant(id)
      assert.ok(removed)
      await client.deletePlant(id)
      await restorePlant(client, removed)
    }
    assert.deepEqual(await storedIn(client), PLANTS)
  })
}

test('the members of a new plant are an id and its content, each a text', () => {
  assert.deepEqual(Object.keys(NewPlantSchema.allOf[1].properties), ['id'])
  for (const { type } of Object.values(PlantSchema.properties)) assert.equal(type, 'string')
})

test('every member is part of the fingerprint and of the size of a plant', () => {
  const without = (member: string) =>
    plantOf(
      1n,
      MEMBERS.filter((one) => one !== member),
    )
  const plants = [
    plantOf(1n),
    ...MEMBERS.map((member) => ({ ...plantOf(1n), [member]: '' })),
    ...OPTIONAL.map(without),
  ]
  assert.equal(new Set(plants.map(fingerprintOf)).size, plants.length)
  const characters = MEMBERS.reduce((sum, member) => sum + textOf(member, 'size').length, 0)
  assert.equal(charactersIn(contentOf('size')), characters)
})

async function succeed(t: TestContext, ...words: string[]): Promise<void> {
  const { code, stderr } = await runCommand(t, words)
  assert.equal(code, 0, stderr)
}

describe('every member of a plant', () => {
  const newFile: NewDatabase = async (t) => join(temporaryFolder(t), 'plants.db')

  describe('in SQLite', () => {
    describeWays(newFile, newFile)

    test('a backup and its restore keep every member', async (t) => {
      const { client, database, stop } = await start(t, await newFile(t))
      for (const plant of PLANTS) await client.createPlant(plant)
      await stop()
      const [backup, restored] = [`${database}.backup`, `${database}.restored`]
      await succeed(t, 'backup', backup, '--database', database)
      await succeed(t, 'restore', backup, '--database', restored)
      await succeed(t, 'check', '--database', restored)
      assert.deepEqual(await storedIn((await start(t, restored)).client), PLANTS)
    })
  })

  describe('in PostgreSQL', { skip: postgresMissing }, () => {
    const shared = sharePostgres()
    const newDatabase: NewDatabase = () => shared.server.createDatabase()
    describeWays(newDatabase, newDatabase)
    describe('from and to SQLite', () => {
      test('copying a store copies every member', async (t) => {
        const from = await start(t, await newDatabase(t))
        for (const plant of PLANTS) await from.client.createPlant(plant)
        await from.stop()
        const file = await newFile(t)
        const database = await newDatabase(t)
        await succeed(t, 'copy', '--from', from.database, '--to', file)
        await succeed(t, 'copy', '--from', file, '--to', database)
        assert.deepEqual(await storedIn((await start(t, database)).client), PLANTS)
      })
    })
  })
})
