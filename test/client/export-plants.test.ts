import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  createPlantStoreClient,
  type RequestError,
  type StoredPlant,
} from '../../src/client/plant-store-client.ts'
import { eventually } from '../support/eventually.ts'
import { startApp, TOKEN } from '../support/http/start-app.ts'
import { failureOf } from './failure-of.ts'
import { gather } from './gather.ts'
import { breakOff, dropConnection, reject, response, startScript, startServer } from './scripted-server.ts'

const ID = 9007199254740993n
const NDJSON = { 'content-type': 'application/x-ndjson' }
const LINE = `{"id":${ID},"name":"a","createdAt":"2026-04-01T08:30:00.000Z","updatedAt":"2026-04-01T08:30:00.000Z"}\n`

async function start(context: TestContext) {
  const app = await startApp(context)
  const client = createPlantStoreClient({ baseUrl: app.url, token: TOKEN })
  await client.importPlants([
    { id: -ID, name: 'Quercus robur', tag: 'tree' },
    { id: ID - 1n, name: '"id":1,\\n\u2028🌱', tag: '' },
    { id: ID, name: 'Açaí palm', tag: 'tree' },
  ])
  return { app, client }
}

test('an export has the same plants as a list, with or without a filter', async (context) => {
  const { client } = await start(context)
  const listed = await gather(client.listPlants())
  assert.equal(listed.length, 3)
  const all = client.exportPlants()
  assert.deepEqual(await gather(all), listed)
  assert.deepEqual(await gather(all), listed, 'a second loop exports again')
  const some = await gather(client.exportPlants({ after: -ID, tag: 'tree' }))
  assert.deepEqual(some, listed.slice(2))
  assert.deepEqual(await gather(client.exportPlants({ tag: 'none' })), [])
})

test('an exported file is what the service sends, and is imported without a change', async (context) => {
  const { app, client } = await start(context)
  const listed = await gather(client.listPlants())
  for (const [format, query] of [
    ['ndjson', '?tag=tree'],
    ['csv', '?tag=tree&bom=1'],
  ] as const) {
    const accept = format === 'csv' ? 'text/csv' : 'application/x-ndjson'
    const sent = await (await app.fetch(`/plants${query}`, { headers: { accept } })).bytes()
    const file = await client.exportPlants({ format, tag: 'tree', bom: format === 'csv' })
    assert.deepEqual(await new Response(file).bytes(), sent)
  }
  for (const format of ['ndjson', 'csv'] as const) {
    const file = await client.exportPlants({ format })
    const copy = createPlantStoreClient({ baseUrl: (await startApp(context)).url, token: TOKEN })
    assert.equal((await copy.importPlants(file, { format })).created, 3)
    const names = ({ id, name, tag }: StoredPlant) => [id, name, format === 'csv' ? tag || undefined : tag]
    assert.deepEqual((await gather(copy.listPlants())).map(names), listed.map(names))
  }
})

test('a slow reader of an export does not time out, and may stop early', async (context) => {
  const app = await startApp(context)
  const client = createPlantStoreClient({ baseUrl: app.url, token: TOKEN })
  const name = 'x'.repeat(1_000)
  await client.importPlants(Array.from({ length: 20_000 }, (_, at) => ({ id: BigInt(at), name })))
  let read = 0
  // Time passes for the reader only: a busy machine is not a service that does not respond.
  context.mock.timers.enable({ apis: ['setTimeout'] })
  for await (const { id } of client.exportPlants({ timeoutMs: 250 })) {
    assert.equal(id, BigInt(read++))
    // Longer than the service may take.
    if (read % 5_000 === 0) context.mock.timers.tick(400)
  }
  context.mock.timers.reset()
  assert.equal(read, 20_000)
  for await (const { id } of client.exportPlants()) if (id === 3n) break
  const file = await client.exportPlants({ format: 'ndjson' })
  const reader = file.getReader()
  assert.ok(((await reader.read()).value?.length ?? 0) > 0)
  await reader.cancel()
  await app.stop()
})

test('an export whose connection is dropped throws, wherever that happens', async (context) => {
  for (const beginning of [LINE + LINE, LINE + LINE.slice(0, 30)]) {
    const { client, requests } = await startScript(context, [breakOff(beginning, NDJSON)])
    const read: bigint[] = []
    const error = await failureOf(
      (async () => {
        for await (const { id } of client().exportPlants()) read.push(id)
      })(),
    )
    assert.deepEqual(
      [error.kind, error.message],
      ['connection', 'The connection was lost before the end of the response'],
    )
    assert.ok(read.every((id) => id === ID))
    const file = await client().exportPlants({ format: 'ndjson' })
    assert.equal((await failureOf(new Response(file).text())).kind, 'connection')
    assert.equal(requests.length, 2, 'what has begun is not begun again')
  }
  const { client } = await startScript(context, [response(200, LINE + LINE.slice(0, 30), NDJSON)])
  assert.equal((await failureOf(gather(client().exportPlants()))).kind, 'connection')
})

test('an export is retried until it begins', async (context) => {
  const turns = [dropConnection, reject(503, 50301), response(200, LINE, NDJSON)]
  const { client } = await startScript(context, turns)
  assert.deepEqual(
    (await gather(client().exportPlants())).map(({ id }) => id),
    [ID],
  )
  const file = await startScript(context, [
    ...turns.slice(0, 2),
    response(200, 'id,name\r\n', { 'content-type': 'text/csv; charset=utf-8' }),
  ])
  assert.equal(await new Response(await file.client().exportPlants({ format: 'csv' })).text(), 'id,name\r\n')
})

test('a page of a list and other responses are rejected as an export', async (context) => {
  const { client } = await startScript(context, [response(200, '[]')])
  assert.equal((await failureOf(gather(client().exportPlants()))).kind, 'response')
  assert.equal((await failureOf(client().exportPlants({ format: 'csv' }))).kind, 'response')
})

test('an export times out if the service stalls midway, and is aborted by a signal', async (context) => {
  const { client } = await startServer(context, (_request, response) => {
    response.writeHead(200, NDJSON).write(LINE)
  })
  for (const call of [
    (options: { signal?: AbortSignal; timeoutMs?: number }) => gather(client().exportPlants(options)),
    async (options: { signal?: AbortSignal; timeoutMs?: number }) =>
      new Response(await client().exportPlants({ ...options, format: 'ndjson' })).text(),
  ]) {
    const error: RequestError = await failureOf(call({ timeoutMs: 200 }))
    assert.deepEqual([error.kind, error.message], ['timeout', 'No response within 200 ms'])
    const controller = new AbortController()
    const reason = new Error('no longer wanted')
    let outcome: unknown
    const ended = call({ signal: controller.signal }).catch((thrown: unknown) => {
      outcome = thrown
    })
    setTimeout(() => controller.abort(reason), 100)
    await ended
    await eventually(() => outcome === reason)
  }
})
