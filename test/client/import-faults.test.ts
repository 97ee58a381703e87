import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ndjsonOf } from '../../src/client/import-body.ts'
import type { NewPlant } from '../../src/client/plant-store-client.ts'
import { eventually } from '../support/eventually.ts'
import { failureOf } from './failure-of.ts'
import { response, stall, startScript, startServer } from './scripted-server.ts'

const PLANTS = [
  { id: 1n, name: 'one' },
  { id: 2n, name: 'two' },
]
const report = (created: number) =>
  response(200, `{"created":${created},"replaced":0,"skipped":0,"failed":0,"errors":[]}`)

function* numbered(count: number): Generator<NewPlant> {
  for (let number = 1; number <= count; number++) yield { id: BigInt(number), name: 'a' }
}

/** Endless plants, and whether their consumer has stopped them. */
function endless() {
  const source = { given: 0, isStopped: false }
  const plants = (async function* () {
    try {
      for (;;) yield { id: BigInt(++source.given), name: 'x'.repeat(1_000) }
    } finally {
      source.isStopped = true
    }
  })()
  return { plants, source }
}

test('a source is read no faster than its plants are sent', async (context) => {
  const { client } = await startServer(context, () => undefined)
  const { plants, source } = endless()
  const error = await failureOf(client({ timeoutMs: 500 }).importPlants(plants))
  assert.deepEqual([error.kind, error.isOutcomeUnknown], ['timeout', true])
  // The slice that is sent and the next one.
  assert.ok(source.given >= 1_000 && source.given < 3_000, `${source.given} plants of 1 kB`)
  await eventually(() => source.isStopped)
})

test('a source is read no further once the service has rejected the import', async (context) => {
  const { client } = await startServer(context, (_request, response) => {
    response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":40102,"message":"no"}')
  })
  const { plants, source } = endless()
  assert.equal((await failureOf(client().importPlants(plants))).code, 40102)
  await eventually(() => source.isStopped)
  assert.ok(source.given < 3_000, `${source.given} plants`)
})

test('an error of the source is thrown after the slices before it are sent', async (context) => {
  const { client, requests } = await startScript(context, [report(1_000)])
  const fault = new Error('the file is gone')
  function* plants(): Generator<NewPlant> {
    yield* numbered(10_000)
    throw fault
  }
  await assert.rejects(client().importPlants(plants()), (error) => error === fault)
  assert.ok(requests.length > 0 && requests.length < 10, `${requests.length} slices`)
  await assert.rejects(client().importPlants([{ id: 1 as unknown as bigint, name: 'one' }]), TypeError)
})

test('a signal aborts an import, and so does a callback that throws', async (context) => {
  const { client } = await startScript(context, [report(1_000), stall])
  const controller = new AbortController()
  const reason = new Error('no longer wanted')
  const { plants, source } = endless()
  const onProgress = () => controller.abort(reason)
  const call = client().importPlants(plants, { signal: controller.signal, onProgress })
  await assert.rejects(call, (error) => error === reason)
  await eventually(() => source.isStopped)
  const other = await startScript(context, [report(1_000)])
  const throwing = other.client().importPlants(endless().plants, {
    onProgress: () => {
      throw reason
    },
  })
  await assert.rejects(throwing, (error) => error === reason)
})

test('the timeout does not count the time of the source, and applies to the service', async (context) => {
  const slow = await startScript(context, [report(1)])
  async function* plants(dawdleMs: number) {
    for (const plant of PLANTS) {
      yield plant
      await new Promise((resolve) => setTimeout(resolve, dawdleMs))
    }
  }
  // Not less: a busy machine takes its time for the response, too.
  assert.equal((await slow.client({ timeoutMs: 800 }).importPlants(plants(1_000))).created, 2)
  // A row does not wait for the next one.
  assert.deepEqual(
    slow.requests.map(({ body }) => body.trim()),
    ['{"id":1,"name":"one"}', '{"id":2,"name":"two"}'],
  )
  const stalled = await startScript(context, [stall])
  assert.equal((await failureOf(stalled.client({ timeoutMs: 250 }).importPlants(PLANTS))).kind, 'timeout')
})

test('rows are sent after a moment even if the source is slow, and the request stays alive', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  async function* plants() {
    yield { id: 1n, name: 'one' }
    await gates[0]?.promise
    yield { id: 2n, name: 'two' }
    await gates[1]?.promise
  }
  const chunks = ndjsonOf(plants())
  const next = async (waitMs: number) => {
    const chunk = chunks.next()
    // What the source has to say at once is taken first.
    for (let turn = 0; turn < 20; turn++) await undefined
    context.mock.timers.tick(waitMs)
    return (await chunk).value
  }
  assert.equal(await next(50), '{"id":1,"name":"one"}\n')
  assert.equal(await next(10_000), ' ')
  assert.equal(await next(10_000), ' ')
  gates[0]?.resolve()
  assert.equal(await next(50), '{"id":2,"name":"two"}\n')
  gates[1]?.resolve()
  assert.equal(await next(0), '\n')
  assert.equal(await next(0), undefined)
})
