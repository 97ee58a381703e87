import assert from 'node:assert/strict'
import { createReadStream, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import {
  createPlantStoreClient,
  type FileSource,
  type ImportProgress,
  type ImportRowError,
  type NewPlant,
} from '../../src/client/plant-store-client.ts'
import { startApp, TOKEN, temporaryFolder } from '../support/http/start-app.ts'
import { failureOf } from './failure-of.ts'
import { gather } from './gather.ts'

const ID = 9007199254740993n
const COUNTS = { created: 0, replaced: 0, skipped: 0, failed: 0, errors: [] }

async function start(context: TestContext) {
  const app = await startApp(context)
  return createPlantStoreClient({ baseUrl: app.url, token: TOKEN })
}

function* numbered(count: number): Generator<NewPlant> {
  for (let number = 1; number <= count; number++)
    yield { id: BigInt(number), name: `plant ${number}`, tag: 'many' }
}

test('plants are imported from any iterable, with exact ids', async (context) => {
  const client = await start(context)
  const plants = [
    { id: -(2n ** 63n), name: 'lowest' },
    { id: ID - 1n, name: '"id":1,\\n\u2028🌱', tag: '' },
    { id: ID, name: 'Açaí palm', tag: 'palm' },
  ]
  assert.deepEqual(await client.importPlants(plants), { ...COUNTS, created: 3 })
  async function* oneByOne() {
    for (const plant of plants) yield { ...plant, id: plant.id + 2n ** 62n }
  }
  assert.deepEqual(await client.importPlants(oneByOne()), { ...COUNTS, created: 3 })
  const stored = await gather(client.listPlants())
  assert.deepEqual(
    stored
      .filter(({ id }) => plants.some((plant) => plant.id === id))
      .map(({ id, name, tag }) => [id, name, tag]),
    plants.map(({ id, name, tag }) => [id, name, tag]),
  )
  assert.equal(stored.length, 6)
  assert.deepEqual(await client.importPlants([]), COUNTS)
})

test('a file without a valid row is rejected, and one that is truncated is stored up to its end', async (context) => {
  const client = await start(context)
  const nameless = await failureOf(client.importPlants('id,tag\n1,a\n', { format: 'csv' }))
  assert.deepEqual([nameless.kind, nameless.isOutcomeUnknown], ['service', false])
  const empty = await failureOf(client.importPlants('', { format: 'csv' }))
  assert.deepEqual([empty.code, empty.isOutcomeUnknown], [40001, false])
  const open = await failureOf(client.importPlants('id,name\n1,a\n2,"b', { format: 'csv' }))
  assert.deepEqual([open.kind, open.progress?.line, open.isOutcomeUnknown], ['service', 3, false])
  assert.equal((await client.getPlant(1n))?.name, 'a')
})

test('a failed row is reported with its line, and the others are stored', async (context) => {
  const client = await start(context)
  await client.createPlant({ id: ID, name: 'before' })
  const reported: ImportRowError[] = []
  const plants = [
    { id: 1n, name: 'one' },
    { id: ID, name: 'after' },
    { id: 2n, name: '\ud800' },
    { id: 3n, name: 'three' },
  ]
  const report = await client.importPlants(plants, { onError: (error) => void reported.push(error) })
  const { errors, ...counts } = report
  assert.deepEqual(counts, { created: 2, replaced: 0, skipped: 0, failed: 2 })
  assert.deepEqual(
    errors.map(({ line, id, error }) => [line, id, error]),
    [
      [2, ID, 40901],
      [3, 2n, 40003],
    ],
  )
  assert.deepEqual(reported, errors)
  assert.equal((await client.getPlant(ID))?.name, 'before')
})

test('a report lists the first thousand failed rows, and the callback gets all of them', async (context) => {
  const client = await start(context)
  await client.importPlants(numbered(1_500))
  let reported = 0
  const report = await client.importPlants(numbered(1_500), { onError: () => void reported++ })
  assert.deepEqual([report.failed, report.errors.length, reported], [1_500, 1_000, 1_500])
  assert.equal(report.errors.at(-1)?.line, 1_000)
})

test('a row with a taken id is skipped or replaces the plant on request, and a dry run stores nothing', async (context) => {
  const client = await start(context)
  const plants = [
    { id: 1n, name: 'one' },
    { id: ID, name: 'two' },
  ]
  assert.deepEqual(await client.importPlants(plants, { dryRun: true }), { ...COUNTS, created: 2 })
  assert.deepEqual(await gather(client.listPlants()), [])
  await client.importPlants(plants)
  assert.deepEqual(await client.importPlants(plants, { onConflict: 'skip' }), { ...COUNTS, skipped: 2 })
  const renamed = plants.map((plant) => ({ ...plant, name: 'new' }))
  assert.deepEqual(await client.importPlants(renamed, { onConflict: 'replace' }), { ...COUNTS, replaced: 2 })
  assert.equal((await client.getPlant(ID))?.name, 'new')
})

test('progress is reported during an import', async (context) => {
  const client = await start(context)
  const reported: ImportProgress[] = []
  const report = await client.importPlants(numbered(60_000), {
    onProgress: (progress) => void reported.push(progress),
  })
  assert.equal(report.created, 60_000)
  assert.ok(reported.length > 0)
  for (const { line, created } of reported) assert.equal(created, line - 1)
})

test('a file is imported as text, bytes, Blob, stream or chunks of any size', async (context) => {
  const client = await start(context)
  const path = join(temporaryFolder(context), 'plants.ndjson')
  const ndjson = (id: bigint) =>
    `{"id":${id},"name":"Açaí palm","tag":"palm"}\n\n{"id":${id + 1n},"name":"×"}`
  writeFileSync(path, ndjson(50n))
  const bytes = (id: bigint) => new TextEncoder().encode(ndjson(id))
  const sources: FileSource[] = [
    ndjson(10n),
    bytes(20n),
    new Blob([bytes(30n)]),
    new Blob([bytes(40n)]).stream(),
    createReadStream(path, { highWaterMark: 7 }),
    Array.from(bytes(60n), (byte) => Uint8Array.of(byte)),
    ['', ndjson(70n), ''],
  ]
  for (const source of sources) {
    assert.deepEqual(await client.importPlants(source, { format: 'ndjson' }), { ...COUNTS, created: 2 })
  }
  const zipped = client.importPlants(gzipSync(ndjson(80n)), { format: 'ndjson', gzip: true })
  assert.deepEqual(await zipped, { ...COUNTS, created: 2 })
  const names = (await gather(client.listPlants())).map(({ name }) => name)
  assert.deepEqual(names, Array.from({ length: 8 }, () => ['Açaí palm', '×']).flat())
})

test('text keeps its characters wherever its chunks end', async (context) => {
  const client = await start(context)
  const csv = 'id,name\n400,a😀b\n401,😀😀\n'
  await client.importPlants(csv.split(''), { format: 'csv' })
  await client.importPlants(['', 'id,name\n402,a\ud83d', '', '\ude00b\n'], { format: 'csv' })
  await client.importPlants('{"id":403,"name":"a😀b"}', { format: 'ndjson' })
  const names = (await gather(client.listPlants())).map(({ name }) => name)
  assert.deepEqual(names, ['a😀b', '😀😀', 'a😀b', 'a😀b'])
})

test('text with half a surrogate pair is rejected with its position', async (context) => {
  const client = await start(context)
  const sources: [FileSource, number][] = [
    ['id,name\n1,\ud83d\n', 10],
    ['id,name\n1,\ude00\n', 10],
    ['id,name\n1,a\ud83d', 11],
    [['id,name\n', '1,\ud83d', 'a\n'], 10],
    [['id,name\n', '1,\ud83d', '\ud83d\ude00\n'], 10],
    [['id,name\n', '1,\ud83d'], 10],
    [['id,name\n1,\ud83d', Uint8Array.of(10)], 10],
    [['id,name\n1,😀\n', '\ude00'], 13],
  ]
  const throwing = async (place: string) => {
    for (const [source, index] of sources) {
      if (place === 'in a browser' && typeof source !== 'string') continue
      await assert.rejects(client.importPlants(source, { format: 'csv' }), (error) => {
        assert.ok(error instanceof TypeError, String(error))
        assert.match(error.message, new RegExp(`a lone surrogate at index ${index}$`))
        return true
      })
    }
  }
  await throwing('in Node')
  Object.defineProperty(globalThis, 'location', { configurable: true, value: {} })
  context.after(() => Reflect.deleteProperty(globalThis, 'location'))
  await throwing('in a browser')
})

test('a CSV file is read with its header, or with given columns, ids and encoding', async (context) => {
  const client = await start(context)
  const csv = { format: 'csv' } as const
  const headed = `id,name,tag\r\n${ID},"Rosa, climbing",\r\n${ID},again,rose\r\n`
  const { errors, ...counts } = await client.importPlants(headed, csv)
  assert.deepEqual(counts, { created: 1, replaced: 0, skipped: 0, failed: 1 })
  assert.deepEqual(
    errors.map(({ line, id }) => [line, id]),
    [[3, ID]],
  )
  const bare = await client.importPlants('x;a\r\n'.replace(';', ','), {
    ...csv,
    columns: ['none', 'name'],
    idStart: -5n,
  })
  assert.equal(bare.created, 1)
  const latin = Uint8Array.of(...new TextEncoder().encode('id,name\n7,'), 0xd7, 0x0a)
  assert.equal((await client.importPlants(latin, { ...csv, encoding: 'windows-1252' })).created, 1)
  const stored = await gather(client.listPlants())
  assert.deepEqual(
    stored.map(({ id, name }) => [id, name]),
    [
      [-5n, 'a'],
      [7n, '×'],
      [ID, 'Rosa, climbing'],
    ],
  )
})

test('a fatal failure is thrown with the progress of the import', async (context) => {
  const client = await start(context)
  const rows = Array.from(numbered(2_000), ({ id, name }) => `${id},${name}\n`).join('')
  const error = await failureOf(client.importPlants(`id,name\n${rows}"never closed`, { format: 'csv' }))
  assert.deepEqual([error.kind, error.code, error.status], ['service', 40002, 400])
  assert.deepEqual(error.details, {
    fields: [{ name: '', rule: 'well-formed', line: 2_002 }],
    line: 2_002,
    counts: { created: 2_000, replaced: 0, skipped: 0, failed: 0 },
    outcome: 'stored-before-line',
  })
  assert.match(error.requestId ?? '', /^\S+$/)
  assert.equal((await gather(client.listPlants())).length, 2_000)
  const misplaced = await failureOf(client.importPlants('{}', { format: 'ndjson', idStart: 1n }))
  assert.equal(misplaced.code, 40004)
})
