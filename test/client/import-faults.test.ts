import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { ndjsonOf } from '../../src/client/import-body.ts'
import type { NewPlant } from '../../src/client/plant-store-client.ts'
import { eventually } from '../support/eventually.ts'
import { failureOf } from './failure-of.ts'
import { answer, breakOff, hangUp, refuse, stall, startScript, startServer } from './scripted-server.ts'

const PLANTS = [
  { id: 1n, name: 'one' },
  { id: 2n, name: 'two' },
]
const EVENTS = { 'content-type': 'application/x-ndjson' }
const PROGRESS = '{"type":"progress","line":2,"created":1,"replaced":0,"skipped":0,"failed":0}\n'
const REPORT = '{"type":"report","created":2,"replaced":0,"skipped":0,"failed":0}\n'
const COUNTED = { line: 2, created: 1, replaced: 0, skipped: 0, failed: 0 }

/** Plants without end, and whether whoever took them has said that it wants no more. */
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

test('an import that fails in the middle is a RequestError with the code and the progress', async (context) => {
  const failure =
    '{"type":"failure","error":50302,"message":"The rows before line 2 are stored: 1 created."}\n'
  const { client, requests } = await startScript(context, [answer(200, PROGRESS + failure, EVENTS)])
  const error = await failureOf(client().importPlants(PLANTS))
  assert.deepEqual([error.kind, error.code, error.status], ['service', 50302, 503])
  assert.equal(error.message, 'The rows before line 2 are stored: 1 created.')
  assert.deepEqual([error.progress, error.isOutcomeUnknown], [COUNTED, true])
  assert.equal(requests.length, 1)
})

test('an answer without a last line broke off, however it ends, and is not asked for again', async (context) => {
  for (const turn of [
    answer(200, PROGRESS, EVENTS),
    breakOff(PROGRESS, EVENTS),
    breakOff(`${PROGRESS}{"ty`, EVENTS),
  ]) {
    const { client, requests } = await startScript(context, [turn])
    const error = await failureOf(client().importPlants(PLANTS))
    assert.deepEqual([error.kind, error.isOutcomeUnknown, error.progress], ['connection', true, COUNTED])
    assert.equal((await failureOf(client().importPlants(PLANTS, { dryRun: true }))).isOutcomeUnknown, false)
    assert.equal(requests.length, 2)
  }
})

test('an import is never sent again by itself', async (context) => {
  for (const turn of [hangUp, refuse(503, 50301), refuse(429, 42901), answer(502, '')]) {
    const { client, requests } = await startScript(context, [turn])
    await failureOf(client().importPlants(PLANTS))
    assert.equal(requests.length, 1)
  }
})

test('what is sent is a plant a line, whole, and asks to be told while it runs', async (context) => {
  const { client, requests } = await startScript(context, [answer(200, REPORT, EVENTS)])
  await client().importPlants(PLANTS, { onConflict: 'skip', dryRun: true })
  const [request] = requests
  assert.equal(request?.body, '{"id":1,"name":"one"}\n{"id":2,"name":"two"}\n')
  assert.equal(request?.path, '/plants/import?onConflict=skip&dryRun=true')
  assert.deepEqual(
    [request?.headers['content-type'], request?.headers.accept],
    [EVENTS['content-type'], EVENTS['content-type']],
  )
  await client().importPlants('a', {
    format: 'csv',
    columns: ['id', 'name'],
    idStart: -1n,
    encoding: 'utf-16le',
    gzip: true,
  })
  assert.equal(requests[1]?.path, '/plants/import?columns=id%2Cname&encoding=utf-16le&idStart=-1')
  assert.deepEqual(
    [requests[1]?.headers['content-type'], requests[1]?.headers['content-encoding']],
    ['text/csv', 'gzip'],
  )
})

test('a report in one chunk is understood as well, and a line that is none is told as that', async (context) => {
  const json =
    '{"created":1,"replaced":0,"skipped":0,"failed":1,"errors":[{"line":2,"id":9007199254740993,"error":40901,"message":"taken"}]}'
  const whole = await startScript(context, [answer(200, json)])
  const report = await whole.client().importPlants(PLANTS)
  assert.equal(report.errors[0]?.id, 9007199254740993n)
  const odd = await startScript(context, [answer(200, `${PROGRESS}<p>\n${REPORT}`, EVENTS)])
  assert.equal((await failureOf(odd.client().importPlants(PLANTS))).kind, 'response')
})

test('a source is read no faster than its plants are taken', async (context) => {
  const { client } = await startServer(context, () => undefined)
  const { plants, source } = endless()
  const error = await failureOf(client({ timeoutMs: 500 }).importPlants(plants))
  assert.deepEqual([error.kind, error.isOutcomeUnknown], ['timeout', true])
  // What fits into the buffers of a connection: some megabytes.
  assert.ok(source.given > 100 && source.given < 30_000, `${source.given} plants of 1 kB`)
  await eventually(() => source.isStopped)
})

test('a source is read no further when the service has refused', async (context) => {
  const { client } = await startServer(context, (_request, response) => {
    response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":40102,"message":"no"}')
  })
  const { plants, source } = endless()
  assert.equal((await failureOf(client().importPlants(plants))).code, 40102)
  await eventually(() => source.isStopped)
  // The answer had its turn, though the source never waits for anything.
  assert.ok(source.given < 60_000, `${source.given} plants`)
})

test('what the source throws is thrown, and the request does not end as if all had been sent', async (context) => {
  const seen = { begun: false, whole: false, closed: false }
  const { client } = await startServer(context, (request) => {
    request.once('data', () => {
      seen.begun = true
    })
    request.once('end', () => {
      seen.whole = true
    })
    request.once('close', () => {
      seen.closed = true
    })
  })
  const fault = new Error('the file is gone')
  async function* plants(): AsyncGenerator<NewPlant> {
    yield { id: 1n, name: 'one' }
    await eventually(() => seen.begun)
    throw fault
  }
  await assert.rejects(client().importPlants(plants()), (error) => error === fault)
  await eventually(() => seen.closed)
  assert.equal(seen.whole, false)
  await assert.rejects(client().importPlants([{ id: 1 as unknown as bigint, name: 'one' }]), TypeError)
})

test('a signal ends an import, and so does a callback that throws', async (context) => {
  let response: ServerResponse | undefined
  const { client } = await startServer(context, (request, answering) => {
    request.resume()
    response = answering.writeHead(200, EVENTS)
    response.write(PROGRESS)
  })
  const controller = new AbortController()
  const reason = new Error('no longer wanted')
  const { plants, source } = endless()
  const call = client().importPlants(plants, {
    signal: controller.signal,
    onProgress: () => controller.abort(reason),
  })
  await assert.rejects(call, (error) => error === reason)
  await eventually(() => source.isStopped && response?.destroyed)
  const other = endless()
  const throwing = client().importPlants(other.plants, {
    onProgress: () => {
      throw reason
    },
  })
  await assert.rejects(throwing, (error) => error === reason)
  await eventually(() => other.source.isStopped)
})

test('the time that a source takes is its own, and a service that does not answer is given up', async (context) => {
  const slow = await startScript(context, [answer(200, REPORT, EVENTS)])
  async function* plants(dawdleMs = 100) {
    for (const plant of PLANTS) {
      yield plant
      await new Promise((resolve) => setTimeout(resolve, dawdleMs))
    }
  }
  // Not less: a busy machine takes its time for the answer, too.
  assert.equal((await slow.client({ timeoutMs: 800 }).importPlants(plants(1_000))).created, 2)
  assert.match(slow.requests[0]?.body ?? '', /^\{"id":1,"name":"one"\}\n\{"id":2,"name":"two"\}\n+$/)
  const stalled = await startScript(context, [stall])
  assert.equal((await failureOf(stalled.client({ timeoutMs: 250 }).importPlants(plants()))).kind, 'timeout')
  const silent = await startServer(context, (request, response) => {
    request.resume()
    response.writeHead(200, EVENTS).write(PROGRESS)
  })
  const error = await failureOf(silent.client({ timeoutMs: 250 }).importPlants(plants()))
  assert.deepEqual([error.kind, error.progress], ['timeout', COUNTED])
})

test('rows wait for company a moment only, and a source that dawdles gives signs of life', async (context) => {
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
