import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { AppError } from '../../../src/errors.ts'
import { eventually } from '../../support/eventually.ts'
import { assertErrorResponse, errorIn } from '../../support/http/error-body.ts'
import { startAlteredApp } from '../../support/http/start-altered-app.ts'
import { startApp } from '../../support/http/start-app.ts'
import { openWire, requestText } from '../../support/http/wire.ts'
import { countsOf, importReport, NDJSON, postImport, storedPlants } from './import-requests.ts'

const plantLine = (id: number | bigint, name = `plant ${id}`) =>
  `{"id":${id},"name":${JSON.stringify(name)}}\n`
const plantLines = (count: number, firstId = 1) =>
  Array.from({ length: count }, (_, at) => plantLine(firstId + at)).join('')

/** An app whose store fails for the chunk of an import that has this id, and for every chunk after it. */
async function failingApp(t: TestContext, id: bigint, failure: Error) {
  return startAlteredApp(t, {
    storage: (real) => ({
      ...real,
      plants: {
        ...real.plants,
        openImport(options) {
          const importing = real.plants.openImport(options)
          return {
            ...importing,
            add: (plants) =>
              plants.some((plant) => plant.id >= id) ? Promise.reject(failure) : importing.add(plants),
          }
        },
      },
    }),
  })
}

test('an unsupported query, media type or coding is rejected before the body is read', async (t) => {
  const app = await startApp(t)
  const withQuery = (query: string, contentType = NDJSON) =>
    postImport(app, plantLine(1), { query, headers: { 'content-type': contentType } })
  const queries: [string, string][] = [
    ['?onConflict=ignore', 'onConflict'],
    ['?onConflict=', 'onConflict'],
    ['?dryRun=1', 'dryRun'],
    ['?dryrun=true', 'dryrun'],
    ['?columns=id,name', 'columns'],
    ['?idStart=1', 'idStart'],
    ['?encoding=utf-8', 'encoding'],
    ['?limit=1', 'limit'],
  ]
  for (const [query, parameter] of queries) {
    const { message, details } = await errorIn(await withQuery(query), 400, 40004)
    assert.deepEqual(details, { parameter })
    assert.ok(message.includes(parameter), message)
  }
  for (const type of [
    'application/json',
    'text/plain',
    'application/x-ndjson; charset=latin1',
    'text/csv;charset=utf-16',
  ]) {
    await assertErrorResponse(await withQuery('', type), 415, 41501)
  }
  for (const [charset, encoding] of [
    ['windows-1252', 'windows-1252'],
    ['"ISO-8859-1"', 'ISO-8859-1'],
    ['nonsense!', 'windows-1252'],
  ]) {
    assert.equal(
      await assertErrorResponse(
        await withQuery('', `text/csv; header=present; charset=${charset}`),
        415,
        41501,
      ),
      `The charset of CSV is not read from Content-Type. Send UTF-8, or set the parameter encoding to ${encoding}.`,
    )
  }
  for (const coding of ['br', 'deflate', 'gzip, gzip', 'zstd']) {
    const response = await postImport(app, plantLine(1), { headers: { 'content-encoding': coding } })
    assert.match(await assertErrorResponse(response, 415, 41501), /Content-Encoding: gzip, or without one/)
  }
  // In the order of the checks: token, scope, query, body, media type.
  await assertErrorResponse(
    await postImport(app, '', { query: '?x=1', headers: { authorization: '' } }),
    401,
    40101,
  )
  await assertErrorResponse(await postImport(app, '', { query: '?x=1' }), 400, 40004)
  await assertErrorResponse(
    await postImport(app, '', { headers: { 'content-type': 'text/plain' } }),
    400,
    40001,
  )
  assert.deepEqual(await storedPlants(app), [])
})

test('an empty body is missing, also a chunked one; a body of blank lines has no rows', async (t) => {
  const app = await startApp(t)
  await assertErrorResponse(await postImport(app, ''), 400, 40001)
  const wire = await openWire(t, app.port)
  const inChunks = { 'Content-Type': NDJSON, 'Transfer-Encoding': 'chunked' }
  wire.send(requestText('POST /plants/import', inChunks), '0\r\n\r\n')
  assert.equal(
    await assertErrorResponse(await wire.response(), 400, 40001),
    'The body is missing. Send NDJSON or CSV.',
  )
  await wire.assertUsable()
  assert.deepEqual(countsOf(await importReport(app, '\n\n')), [0, 0, 0, 0])
})

test('one caller runs six imports at once and all callers eight; more are rejected until one ends', async (t) => {
  const app = await startApp(t)
  const created = await app.send('POST', '/tokens', '{"scopes":["plants:write"]}')
  const { token } = (await created.json()) as { token: string }
  const inChunks = { 'Content-Type': NDJSON, 'Transfer-Encoding': 'chunked', Expect: '100-continue' }
  const authorization = `Bearer ${token}`
  const begin = async (headers: Record<string, string> = {}) => {
    const wire = await openWire(t, app.port)
    wire.send(requestText('POST /plants/import', { ...inChunks, ...headers }))
    assert.equal((await wire.response()).status, 100)
    return wire
  }
  const wires = await Promise.all(Array.from({ length: 6 }, () => begin()))
  assert.match(
    await assertErrorResponse(await postImport(app, plantLine(1)), 503, 50301),
    /^Too many imports /,
  )
  for (let at = 0; at < 2; at++) wires.push(await begin({ Authorization: authorization }))
  const rejected = await postImport(app, plantLine(1), { headers: { authorization } })
  assert.match(await assertErrorResponse(rejected, 503, 50301), /^Too many imports /)
  for (const wire of wires) wire.send('1\r\n\n\r\n0\r\n\r\n')
  for (const wire of wires) assert.equal((await wire.response()).status, 200)
  assert.deepEqual(countsOf(await importReport(app, plantLine(1))), [1, 0, 0, 0])
})

test('a byte order mark is dropped, and UTF-16 is recognised in the message', async (t) => {
  const app = await startApp(t)
  assert.deepEqual(countsOf(await importReport(app, `\ufeff${plantLine(1)}`)), [1, 0, 0, 0])
  const response = await postImport(app, Buffer.from(plantLine(2), 'utf16le'))
  assert.equal(
    await assertErrorResponse(response, 400, 40002),
    'The text is in UTF-16. Send NDJSON in UTF-8 (RFC 8259 §8.1).',
  )
})

test('when the storage fails the import ends, with its progress in the details', async (t) => {
  const app = await failingApp(t, 5_000n, new AppError(50701))
  const response = await app.fetch('/plants/import', {
    method: 'POST',
    body: `{}\n${plantLines(20_000)}`,
    headers: { 'content-type': NDJSON },
  })
  const { line, counts, outcome } = (await errorIn(response, 507, 50701)).details
  assert.deepEqual(counts, { created: Number(line) - 2, replaced: 0, skipped: 0, failed: 1 })
  assert.equal(outcome, 'stored-before-line')
  assert.ok(Number(line) <= 5_001)
  const stored = await Promise.all(
    [2, Number(line) - 2, Number(line) - 1].map(async (id) => (await app.fetch(`/plants/${id}`)).status),
  )
  assert.deepEqual(stored, [200, 200, 404], 'the rows before that line are stored, and no other')
})

test('an unexpected failure reveals nothing internal, and its cause is in the log', async (t) => {
  const app = await failingApp(t, 1n, new Error('SELECT secret'))
  for (const accept of ['application/json', NDJSON]) {
    const response = await app.fetch('/plants/import', {
      method: 'POST',
      body: plantLine(1),
      headers: { 'content-type': NDJSON, accept },
    })
    const text = await response.text()
    assert.match(text, /"error":50001,"message":"Internal error\. /)
    assert.doesNotMatch(text, /secret/)
    const id = response.headers.get('x-request-id')
    const line = await eventually(() => app.log.find(({ requestId }) => requestId === id))
    assert.deepEqual([line.level, line.msg, line.error], [50, 'request failed', 50001])
    assert.match(String(line.cause), /SELECT secret/)
  }
})
