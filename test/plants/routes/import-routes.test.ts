import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '../../support/eventually.ts'
import { assertErrorResponse } from '../../support/http/error-body.ts'
import { startApp } from '../../support/http/start-app.ts'
import {
  CSV,
  countsOf,
  errorsOf,
  exportedLines,
  importReport,
  rejectedCsv,
  storedPlants,
} from './import-requests.ts'

const plantLine = (id: number | bigint, name = `plant ${id}`) =>
  `{"id":${id},"name":${JSON.stringify(name)}}\n`
const plantLines = (count: number, firstId = 1) =>
  Array.from({ length: count }, (_, at) => plantLine(firstId + at)).join('')

test('every line is a plant, and the report counts them', async (t) => {
  const app = await startApp(t)
  const body = [
    '{"id":9007199254740993,"name":"Açaí ×","tag":"palm","other":[1]}',
    '{"name":"Rosa \\"Peace\\"","id":-9223372036854775808}',
    '',
    ' \t',
    '{ "id" : 9.007199254740992e15 , "name" : "" , "tag" : "" }\r',
    '{"id":9223372036854775807,"name":"last, without a line feed"}',
  ].join('\n')
  assert.deepEqual(await importReport(app, body), {
    created: 4,
    replaced: 0,
    skipped: 0,
    failed: 0,
    errors: [],
  })
  assert.deepEqual(await storedPlants(app), [
    [-9223372036854775808n, 'Rosa "Peace"'],
    [9007199254740992n, '', ''],
    [9007199254740993n, 'Açaí ×', 'palm'],
    [9223372036854775807n, 'last, without a line feed'],
  ])
})

test('a failed row is reported with its line, id and reason, and the others are stored', async (t) => {
  const app = await startApp(t)
  await app.send('POST', '/plants', '{"id":7,"name":"was here"}')
  const body = Buffer.concat([
    Buffer.from('{"id":1,"name":"a"}\n\n{"id":2}\nno JSON\n{"id":9223372036854775808,"name":"b"}\n'),
    Buffer.from('{"id":3,"name":"caf\xe9"}\n', 'latin1'),
    Buffer.from('[]\n{"id":7,"name":"taken"}\n{"id":1,"name":"twice"}\n'),
    Buffer.from(
      `{"id":4,"name":"${'x'.repeat(64 * 1024)}"}\n{"id":5,"name":"a\\u0000"}\n{"id":6,"name":"z"}\n`,
    ),
  ])
  const report = await importReport(app, body)
  assert.deepEqual(countsOf(report), [2, 0, 0, 9])
  assert.deepEqual(
    report.errors.map(({ line, id, error }) => [line, id, error]),
    [
      [3, 2n, 40003],
      [4, undefined, 40002],
      [5, undefined, 40003],
      [6, undefined, 40002],
      [7, undefined, 40003],
      [8, 7n, 40901],
      [9, 1n, 40901],
      [10, undefined, 41301],
      [11, 5n, 40003],
    ],
  )
  const messages = report.errors.map(({ message }) => message)
  assert.match(messages[0] ?? '', /^name is required\.$/)
  assert.match(messages[1] ?? '', /^The line is not JSON(: it .*)?\.$/)
  assert.match(messages[3] ?? '', /UTF-8/)
  assert.match(messages[4] ?? '', /^The line must be a JSON object\. Put /)
  assert.equal(messages[5], 'The id 7 is already used.')
  assert.match(messages[7] ?? '', /longer than 65536 bytes/)
  assert.deepEqual(await storedPlants(app), [
    [1n, 'a'],
    [6n, 'z'],
    [7n, 'was here'],
  ])
})

test('onConflict decides what happens to a used id', async (t) => {
  const app = await startApp(t)
  await app.send('POST', '/plants', '{"id":1,"name":"old","tag":"tree"}')
  const old = await (await app.fetch('/plants/1')).json()
  const body = '{"id":1,"name":"new"}\n{"id":2,"name":"first"}\n{"id":2,"name":"second"}\n'
  assert.deepEqual(countsOf(await importReport(app, body, { query: '?onConflict=fail' })), [1, 0, 0, 2])
  assert.deepEqual(countsOf(await importReport(app, body, { query: '?onConflict=skip' })), [0, 0, 3, 0])
  assert.deepEqual(await storedPlants(app), [
    [1n, 'old', 'tree'],
    [2n, 'first'],
  ])
  assert.deepEqual(countsOf(await importReport(app, body, { query: '?onConflict=replace' })), [0, 3, 0, 0])
  assert.deepEqual(await storedPlants(app), [
    [1n, 'new'],
    [2n, 'second'],
  ])
  const replaced = (await (await app.fetch('/plants/1')).json()) as { createdAt: string }
  assert.equal(replaced.createdAt, (old as { createdAt: string }).createdAt)
})

test('a dry run has the same report and stores nothing', async (t) => {
  const app = await startApp(t)
  await app.send('POST', '/plants', '{"id":2,"name":"was here"}')
  const body = `${plantLines(3)}{}\n${plantLine(3, 'again')}`
  for (const onConflict of ['fail', 'skip', 'replace']) {
    const dry = await importReport(app, body, { query: `?dryRun=true&onConflict=${onConflict}` })
    assert.deepEqual(await storedPlants(app), [[2n, 'was here']])
    const other = await startApp(t)
    await other.send('POST', '/plants', '{"id":2,"name":"was here"}')
    const wet = await importReport(other, body, { query: `?dryRun=false&onConflict=${onConflict}` })
    assert.deepEqual(dry, wet, onConflict)
  }
})

test('a dry run that cannot start counts nothing', async (t) => {
  const app = await startApp(t)
  const { details } = await rejectedCsv(app, 'number\n1\n', 40003, '?dryRun=true')
  assert.deepEqual(details.counts, { created: 0, replaced: 0, skipped: 0, failed: 0 })
  assert.equal(details.outcome, 'none')
})

test('of many failed rows the first 1,000 are listed and all are counted', async (t) => {
  const app = await startApp(t)
  const rows = Array.from({ length: 2_500 }, (_, at) => (at % 2 === 0 ? plantLine(at) : '{}\n')).join('')
  const report = await importReport(app, rows)
  assert.deepEqual(countsOf(report), [1_250, 0, 0, 1_250])
  assert.deepEqual(
    errorsOf(report),
    Array.from({ length: 1_000 }, (_, at) => [2 * at + 2, 40003]),
  )
})

test('other methods than POST get 405 with Allow, and do not match a plant', async (t) => {
  const app = await startApp(t)
  for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'PROPFIND']) {
    const response = await app.fetch('/plants/import', { method })
    assert.equal(response.status, 405, method)
    assert.equal(response.headers.get('allow'), 'OPTIONS, POST')
    if (method !== 'HEAD') await assertErrorResponse(response, 405, 40501)
    const bare = await app.fetch('/plants/import', { method, headers: { authorization: '' } })
    assert.equal(bare.status, 401, method)
  }
  const options = await app.fetch('/plants/import', { method: 'OPTIONS' })
  assert.deepEqual([options.status, options.headers.get('allow')], [204, 'OPTIONS, POST'])
  const plant = await app.fetch('/plants/7', { method: 'OPTIONS' })
  assert.equal(plant.headers.get('allow'), 'DELETE, GET, HEAD, OPTIONS, PATCH, PUT')
})

test('an export is imported unchanged', async (t) => {
  const app = await startApp(t)
  const names = [
    '',
    ' ',
    'Mentha × piperita',
    '"quoted", twice',
    'two\r\nlines',
    '🌵 e\u0301',
    '\t\u0001\u2028',
    "=1+1,'",
  ]
  const body = names
    .map((name, id) => JSON.stringify({ id, name, ...(id % 2 === 0 && { tag: name }) }))
    .join('\n')
  await importReport(app, body)
  const exported = await exportedLines(app)
  assert.equal(exported.length, names.length)
  const other = await startApp(t)
  assert.deepEqual(countsOf(await importReport(other, exported.join('\n'))), [names.length, 0, 0, 0])
  assert.deepEqual(await storedPlants(other), await storedPlants(app))
})

test('single plants are created while an import runs, and see its stored rows', async (t) => {
  const app = await startApp(t)
  const more = Promise.withResolvers<void>()
  const begun = plantLines(3_000)
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(Buffer.from(begun))
      await more.promise
      controller.enqueue(Buffer.from(plantLine(5_000)))
      controller.close()
    },
  })
  const report = importReport(app, body)
  await eventually(async () => (await app.fetch('/plants/3000')).status === 200)
  await assertErrorResponse(await app.send('POST', '/plants', '{"id":3000,"name":"taken"}'), 400, 40901)
  assert.equal((await app.send('POST', '/plants', '{"id":4000,"name":"single"}')).status, 200)
  more.resolve()
  assert.deepEqual(countsOf(await report), [3_001, 0, 0, 0])
  assert.equal((await storedPlants(app)).length, 3_002)
})

test('CSV has its own type', async (t) => {
  const app = await startApp(t)
  const report = await importReport(app, 'id,name\n1,a\n', {
    headers: { 'content-type': `${CSV}; charset=UTF-8; header=present` },
  })
  assert.deepEqual(countsOf(report), [1, 0, 0, 0])
})
