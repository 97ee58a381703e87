import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertErrorResponse } from '../../support/http/error-body.ts'
import { startApp } from '../../support/http/start-app.ts'
import {
  CSV,
  countsOf,
  errorsOf,
  importCsv,
  postImport,
  rejectedCsv,
  rulesOf,
  takePlants,
} from './import-requests.ts'

// The meaning of CSV rows. import-csv-text-routes.test.ts tests how the text is split into rows.

const app = await startApp({ after })

test('a header row names the columns in any order and case, and other columns are ignored', async () => {
  const body =
    '\ufeffTag, NAME ,colour,Id\r\ntree,Quercus robur,green,1\r\n,"Rosa, ""Peace""",,9007199254740993\r\n'
  assert.deepEqual(await importCsv(app, body), { created: 2, replaced: 0, skipped: 0, failed: 0, errors: [] })
  assert.deepEqual(await takePlants(app), [
    [1n, 'Quercus robur', 'tree'],
    [9007199254740993n, 'Rosa, "Peace"'],
  ])
})

test('rows of only commas are ignored like blank lines, also before the header row, and take no number', async () => {
  const body = ',,\r\nid,name,tag\r\n1,a,\r\n,,\r\n\r\n2,b,\r\n,,\r\n,,,,\r\n'
  assert.deepEqual(countsOf(await importCsv(app, body)), [2, 0, 0, 0])
  const numbered = await importCsv(app, 'a,\n,\nb,\n,', '?columns=name,tag&idStart=5')
  assert.deepEqual(countsOf(numbered), [2, 0, 0, 0])
  assert.deepEqual(await takePlants(app), [
    [1n, 'a'],
    [2n, 'b'],
    [5n, 'a'],
    [6n, 'b'],
  ])
  const empty = await importCsv(app, 'id,name\n,""\n , \n')
  assert.deepEqual(errorsOf(empty), [
    [2, 40003],
    [3, 40003],
  ])
})

test('other names of the media types are accepted', async () => {
  for (const type of ['application/vnd.ms-excel', 'Application/vnd.ms-excel; charset=utf-8']) {
    const response = await postImport(app, 'id,name\n1,a\n', { headers: { 'content-type': type } })
    assert.equal(response.status, 200, type)
    assert.deepEqual(await takePlants(app), [[1n, 'a']])
  }
  for (const type of ['application/ndjson', 'application/jsonl']) {
    const response = await postImport(app, '{"id":1,"name":"a"}\n', { headers: { 'content-type': type } })
    assert.equal(response.status, 200, type)
    assert.deepEqual(await takePlants(app), [[1n, 'a']])
  }
  const headers = { 'content-type': 'application/vnd.ms-excel; charset=windows-1252' }
  await assertErrorResponse(await postImport(app, 'id,name\n', { headers }), 415, 41501)
})

test('an empty cell has no value, and a cell of spaces is stored unchanged', async () => {
  const report = await importCsv(app, 'id,name,tag\n1,a,\n2,b,""\n3,, x\n4,"",x\n5, ,  \n')
  assert.deepEqual(countsOf(report), [3, 0, 0, 2])
  assert.deepEqual(errorsOf(report), [
    [4, 40003],
    [5, 40003],
  ])
  assert.deepEqual(rulesOf(report), ['name required', 'name required'])
  assert.deepEqual(await takePlants(app), [
    [1n, 'a'],
    [2n, 'b'],
    [5n, ' ', '  '],
  ])
})

test('an id is a 64-bit integer in plain digits, and the message says so', async () => {
  const ids = [
    '1.0',
    ' 1',
    '1 ',
    '+1',
    '01',
    '1e2',
    '0x1',
    '١',
    '9223372036854775808',
    'one',
    '1_000',
    '"1,000"',
  ]
  const report = await importCsv(app, `id,name\n${ids.map((id) => `${id},a\n`).join('')},no id\n`)
  assert.deepEqual(
    errorsOf(report),
    [...ids, ''].map((_, at) => [at + 2, 40003]),
  )
  for (const { message, id } of report.errors.slice(0, -1)) {
    assert.match(message, /^id must be an integer from .* in plain digits, without spaces\.$/)
    assert.equal(id, undefined)
  }
  assert.deepEqual(rulesOf(report), [...ids.map(() => 'id int64'), 'id required'])
  const edges = '-9223372036854775808,a\n-0,b\n9223372036854775807,c\n'
  assert.deepEqual(countsOf(await importCsv(app, edges, '?columns=id,name')), [3, 0, 0, 0])
  assert.equal((await takePlants(app)).length, 3)
})

test('a row with fewer cells lacks the last ones, and a row with more fails', async () => {
  const report = await importCsv(app, 'id,name,tag\n1,a\n2\n3,c,x,y\n\n4,d,x\n')
  assert.deepEqual(countsOf(report), [2, 0, 0, 2])
  assert.deepEqual(
    report.errors.map(({ line, id, error, fields }) => [line, id, error, fields]),
    [
      [3, 2n, 40003, [{ name: 'name', rule: 'required' }]],
      [4, 3n, 40003, [{ name: '', rule: 'max-items' }]],
    ],
  )
  assert.deepEqual(await takePlants(app), [
    [1n, 'a'],
    [4n, 'd', 'x'],
  ])
})

test('NDJSON that is sent as CSV is recognised in the message', async () => {
  for (const body of ['{"id":1,"name":"a"}\n', '\n {"id": 1, "name": "a"}\n', '{"id":1}\n', '{\n']) {
    const code = body.includes('","') || body.includes(',"') ? 40002 : 40003
    const { message, details } = await rejectedCsv(app, body, code)
    assert.match(
      message,
      /It looks like NDJSON\. Send that with Content-Type: application\/x-ndjson\.$/,
      body,
    )
    assert.deepEqual([details.outcome, details.fields?.[0]?.line], ['none', body.startsWith('\n') ? 2 : 1])
  }
})

test('columns=… names the columns of a file without a header row', async () => {
  await importCsv(app, 'x,Quercus,1,\ny,Rosa,2,shrub\n', '?columns=,Name,%20id,TAG')
  assert.deepEqual(await takePlants(app), [
    [1n, 'Quercus'],
    [2n, 'Rosa', 'shrub'],
  ])
  for (const [columns, message] of [
    ['id,tag', / A column name is required\.$/],
    ['name,tag', / A column id is required, or the parameter idStart/],
    ['', / A column name is required\.$/],
    ['id,name,ID', / The column id must occur only once\.$/],
    ['name,name&idStart=1', / The column name must occur only once\.$/],
    [`id,name${',x'.repeat(1_000)}`, / At most 1000 columns are supported\.$/],
  ] as const) {
    const rejected = await rejectedCsv(app, '1,a\n', 40004, `?columns=${columns}`)
    assert.match(rejected.message, message)
    assert.equal(rejected.details.parameter, 'columns')
  }
})

test('idStart=… numbers all rows, failed ones included', async () => {
  const report = await importCsv(app, 'name,id\na,700\n,701\n\nc,702\n', '?idStart=10')
  assert.deepEqual([countsOf(report), errorsOf(report)], [[2, 0, 0, 1], [[3, 40003]]])
  assert.equal(report.errors[0]?.id, 11n)
  assert.deepEqual(await takePlants(app), [
    [10n, 'a'],
    [12n, 'c'],
  ])
  const numbered = await importCsv(app, 'a\n\nb\n', '?columns=name&idStart=-1')
  assert.deepEqual(countsOf(numbered), [2, 0, 0, 0])
  assert.deepEqual(await takePlants(app), [
    [-1n, 'a'],
    [0n, 'b'],
  ])
  const empty = await importCsv(app, 'a\n""\n\nb\n', '?columns=name&idStart=5')
  assert.deepEqual([countsOf(empty), errorsOf(empty)], [[2, 0, 0, 1], [[2, 40003]]])
  assert.deepEqual(await takePlants(app), [
    [5n, 'a'],
    [7n, 'b'],
  ])
  const last = await importCsv(app, 'a\nb\nc\n', '?columns=name&idStart=9223372036854775806')
  assert.deepEqual([countsOf(last), errorsOf(last)], [[2, 0, 0, 1], [[3, 40003]]])
  assert.deepEqual(rulesOf(last), ['id max'])
  assert.equal((await takePlants(app)).length, 2)
  for (const idStart of ['', 'x', '1.0', '9223372036854775808']) {
    const { details } = await rejectedCsv(app, 'a\n', 40004, `?columns=name&idStart=${idStart}`)
    assert.deepEqual(details, { parameter: 'idStart' })
  }
})

test('a header row without a required column ends the import, and the message quotes the row', async () => {
  const none = { line: 1, counts: { created: 0, replaced: 0, skipped: 0, failed: 0 }, outcome: 'none' }
  const missing = await rejectedCsv(app, '\n\nnumber,"my ""title"""\n1,a\n', 40003)
  assert.equal(
    missing.message,
    'The header row is wrong: "number, my \\"title\\"". A column name is required. For a file without a header row, ' +
      'name its columns in the parameter columns.',
  )
  assert.deepEqual(missing.details, { fields: [{ name: 'name', rule: 'required', line: 3 }], ...none })
  for (const [header, separators] of [
    ['id;name;tag\n', 'semicolons'],
    ['Name\tId\n', 'tabs'],
  ] as const) {
    const { message } = await rejectedCsv(app, header, 40003)
    assert.ok(message.endsWith(` The cells seem to be separated by ${separators}. Use commas.`), message)
  }
  for (const [header, name, rule] of [
    ['name,tag\n', 'id', 'required'],
    ['id,name,tag,Name\n', 'name', 'unique'],
    [`id${',x'.repeat(1_000)}\n`, '', 'max-items'],
  ] as const) {
    const { details } = await rejectedCsv(app, header, 40003)
    assert.deepEqual(details, { fields: [{ name, rule, line: 1 }], ...none })
  }
  const long = await rejectedCsv(app, `${'x'.repeat(10_000)}\n`, 40003)
  assert.ok(long.message.length < 500, long.message)
  const { fields } = (await rejectedCsv(app, '\n\n', 40003)).details
  assert.deepEqual(fields, [{ name: '', rule: 'required' }])
  const headers = { 'content-type': CSV }
  const tooLong = await postImport(app, `"${'x'.repeat(70_000)}"\n1,a\n`, { headers })
  assert.match(await assertErrorResponse(tooLong, 413, 41301), /^The header row cannot be read\. /)
})
