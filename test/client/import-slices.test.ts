import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NewPlant } from '../../src/client/plant-store-client.ts'
import { failureOf } from './failure-of.ts'
import { breakOff, dropConnection, reject, response, startScript } from './scripted-server.ts'

const PLANTS = [
  { id: 1n, name: 'one' },
  { id: 2n, name: 'two' },
]
const report = (created: number) =>
  response(200, `{"created":${created},"replaced":0,"skipped":0,"failed":0,"errors":[]}`)
const DONE = { line: 1_001, created: 1_000, replaced: 0, skipped: 0, failed: 0 }

function* numbered(count: number): Generator<NewPlant> {
  for (let number = 1; number <= count; number++) yield { id: BigInt(number), name: 'a' }
}

test('an import is sent in slices of whole rows, each with its response after its body', async (context) => {
  const { client, requests } = await startScript(context, [report(1_000), report(1_000), report(500)])
  const lines: number[] = []
  const sum = await client().importPlants(numbered(2_500), {
    onProgress: ({ line }) => void lines.push(line),
  })
  assert.deepEqual(sum, { created: 2_500, replaced: 0, skipped: 0, failed: 0, errors: [] })
  assert.equal(lines[0], 1_001)
  const rows = requests.map(({ body }) => body.trim().split('\n'))
  assert.deepEqual(
    rows.map((lines) => [lines.length, lines[0]]),
    [
      [1_000, '{"id":1,"name":"a"}'],
      [1_000, '{"id":1001,"name":"a"}'],
      [500, '{"id":2001,"name":"a"}'],
    ],
  )
  for (const { headers } of requests) assert.equal(headers.accept, 'application/json')
})

test('the error of an import that fails in a later slice has the line up to which rows are stored', async (context) => {
  const details = { line: 101, counts: { created: 98, replaced: 0, skipped: 1, failed: 0 } }
  const failed = (outcome: string) =>
    response(507, JSON.stringify({ error: 50701, message: 'full', details: { ...details, outcome } }))
  for (const outcome of ['stored-before-line', 'unknown']) {
    const { client } = await startScript(context, [report(1_000), failed(outcome)])
    const error = await failureOf(client().importPlants(numbered(3_000)))
    // The slice begins with a blank line.
    const counts = { created: 1_098, replaced: 0, skipped: 1, failed: 0 }
    assert.deepEqual([error.code, error.progress], [50701, { line: 1_100, ...counts }])
    assert.deepEqual(error.details, { line: 1_100, counts, outcome })
  }
  const { client } = await startScript(context, [report(1_000), reject(401, 40102)])
  const revoked = await failureOf(client().importPlants(numbered(3_000)))
  assert.deepEqual([revoked.code, revoked.progress, revoked.isOutcomeUnknown], [40102, DONE, false])
  assert.equal(revoked.details.outcome, 'stored-before-line')
})

test('a slice whose response is lost is retried only if taken ids are skipped or replaced', async (context) => {
  for (const onConflict of ['skip', 'replace'] as const) {
    const { client, requests } = await startScript(context, [report(1_000), dropConnection, report(0)])
    await client().importPlants(numbered(2_000), { onConflict })
    assert.equal(requests.length, 3)
    assert.equal(requests[2]?.body, requests[1]?.body)
  }
  const { client, requests } = await startScript(context, [report(1_000), dropConnection, report(0)])
  const error = await failureOf(client().importPlants(numbered(2_000)))
  assert.deepEqual([error.kind, error.isOutcomeUnknown, error.progress], ['connection', true, DONE])
  assert.equal(requests.length, 2)
})

test('a slice that stored nothing is retried, whatever its rows', async (context) => {
  for (const rejected of [reject(503, 50301), reject(429, 42901)]) {
    const { client, requests } = await startScript(context, [rejected, report(2)])
    assert.equal((await client().importPlants(PLANTS)).created, 2)
    assert.equal(requests.length, 2)
  }
  const broken = await startScript(context, [breakOff('{"created"')])
  const error = await failureOf(broken.client().importPlants(PLANTS))
  assert.deepEqual([error.kind, error.isOutcomeUnknown, broken.requests.length], ['connection', true, 1])
})

test('each slice of a table has its header row, and the lines of its errors are those of the file', async (context) => {
  const slice = (line: number) =>
    response(
      200,
      `{"created":0,"replaced":0,"skipped":0,"failed":1,"errors":[{"line":${line},"id":9007199254740993,"error":40901,"message":"used"}]}`,
    )
  const { client, requests } = await startScript(context, [slice(4), slice(3)])
  const rows = Array.from({ length: 1_500 }, (_, at) => `${at},a\n`).join('')
  const sum = await client().importPlants(`\ufeff\n"id\nx",name\n${rows}`, { format: 'csv' })
  assert.ok(requests[1]?.body.startsWith('"id\nx",name\n1000,a\n'))
  // A blank line before the header row of two lines, which is sent without it.
  assert.deepEqual(
    sum.errors.map(({ line, id }) => [line, id]),
    [
      [5, 9007199254740993n],
      [1_004, 9007199254740993n],
    ],
  )
})

test('the request has the parameters of the import, and given ids continue in the next slice', async (context) => {
  const { client, requests } = await startScript(context, [report(1_000)])
  const columns = ['name']
  const rows = 'a\n'.repeat(1_001)
  await client().importPlants(rows, { format: 'csv', columns, idStart: -1n, onConflict: 'skip' })
  assert.deepEqual(
    requests.map(({ path }) => path),
    [-1, 999].map((id) => `/plants/import?onConflict=skip&columns=name&idStart=${id}`),
  )
  const ended = await startScript(context, [report(1_000)])
  const sum = await ended.client().importPlants(rows, { format: 'csv', columns, idStart: 2n ** 63n - 1_000n })
  assert.deepEqual([sum.failed, sum.errors[0]?.line, sum.errors[0]?.error], [1, 1_001, 40003])
  assert.equal(ended.requests.length, 1)
})

test('a dry run and a compressed file are one request, whose response is the report', async (context) => {
  const { client, requests } = await startScript(context, [report(2_000)])
  assert.equal((await client().importPlants(numbered(2_000), { dryRun: true })).created, 2_000)
  await client().importPlants('a', { format: 'csv', encoding: 'utf-16le', gzip: true })
  assert.deepEqual(
    requests.map(({ path, headers }) => [path, headers['content-encoding'], headers.accept]),
    [
      ['/plants/import?dryRun=true', undefined, 'application/json'],
      ['/plants/import?encoding=utf-16le', 'gzip', 'application/json'],
    ],
  )
  assert.equal(requests[0]?.body.split('\n').length, 2_001)
})

test('only the start of an endless line is kept in memory and sent', async (context) => {
  const { client, requests } = await startScript(context, [report(2)])
  function* chunks() {
    yield '{"id":1,"name":"'
    for (let times = 0; times < 100; times++) yield 'x'.repeat(64 * 1024)
    yield '"}\n{"id":2,"name":"a"}\n'
  }
  await client().importPlants(chunks(), { format: 'ndjson' })
  const [long = '', short] = requests
    .map(({ body }) => body)
    .join('')
    .trim()
    .split(/\n+/)
  assert.equal(long.length, 128 * 1024)
  assert.equal(short, '{"id":2,"name":"a"}')
})
