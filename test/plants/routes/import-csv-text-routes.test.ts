import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApp } from '../../support/http/start-app.ts'
import {
  CSV,
  countsOf,
  errorsOf,
  importCsv,
  rejectedCsv,
  rulesOf,
  storedPlants,
  takePlants,
} from './import-requests.ts'

// How the text of a CSV table is split into rows.

const app = await startApp({ after })

test('an error has the line on which its row begins', async () => {
  const body = 'id,name\r\n1,"three\r\nlines\nin all"\r\n\r\nx,bad\r\n2,"two\n"\nx,bad\n1,taken\n'
  const report = await importCsv(app, body)
  assert.deepEqual(errorsOf(report), [
    [6, 40003],
    [9, 40003],
    [10, 40901],
  ])
  assert.deepEqual(await takePlants(app), [
    [1n, 'three\r\nlines\nin all'],
    [2n, 'two\n'],
  ])
})

test('rows that are not CSV, not UTF-8 or too long fail, and the others are stored', async () => {
  const body = Buffer.concat([
    Buffer.from('id,name\n1,"a"b\n2,"fine ""one"""\n'),
    Buffer.from('3,caf\xe9\n', 'latin1'),
    Buffer.from(`4,"${'x\n'.repeat(40_000)}"\n5,nul\0\n6,5" pot\n`),
  ])
  const report = await importCsv(app, body)
  assert.deepEqual(
    report.errors.map(({ line, id, error }) => [line, id, error]),
    [
      [2, 1n, 40002],
      [4, 3n, 40002],
      [5, undefined, 41301],
      [40_006, 5n, 40003],
    ],
  )
  assert.match(report.errors[1]?.message ?? '', /not valid UTF-8.*encoding.*windows-1252/)
  assert.deepEqual(rulesOf(report), [' well-formed', ' utf-8', 'name well-formed'])
  assert.deepEqual(await takePlants(app), [
    [2n, 'fine "one"'],
    [6n, '5" pot'],
  ])
})

test('a quotation mark that is never closed ends the import; the rows before it are stored', async () => {
  const body = `id,name\n${Array.from({ length: 3_000 }, (_, at) => `${at},a\n`).join('')}3000,"open\n3001,b\n`
  const counts = { created: 3_000, replaced: 0, skipped: 0, failed: 0 }
  const fields = [{ name: '', rule: 'well-formed', line: 3002 }]
  const { message, details } = await rejectedCsv(app, body, 40002)
  assert.equal(message, 'The row has a quotation mark that is never closed.')
  assert.deepEqual(details, { fields, line: 3002, counts, outcome: 'stored-before-line' })
  assert.equal((await storedPlants(app)).length, 3_000)
  const dry = await rejectedCsv(app, body, 40002, '?dryRun=true&onConflict=skip')
  const dryCounts = { ...counts, created: 0, skipped: 3_000 }
  assert.deepEqual(dry.details, { fields, line: 3002, counts: dryCounts, outcome: 'none' })
  await takePlants(app)
})

test('encoding=… sets the encoding of the text', async () => {
  const text = 'id,name\r\n1,Açaí €\r\n'
  const little = Buffer.from(text, 'utf16le')
  const windows = Buffer.from('id,name\n1,A\xe7a\xed \x80\n', 'latin1')
  for (const [bytes, encoding] of [
    [little, 'utf-16le'],
    [Buffer.concat([Buffer.from([0xff, 0xfe]), little]), 'UTF-16LE'],
    [Buffer.from(little).swap16(), 'utf-16be'],
    [windows, 'windows-1252'],
    [windows, 'latin1'],
    [Buffer.from(`\ufeff${text}`), 'utf-8'],
    [Buffer.from(text), 'UTF8'],
  ] as const) {
    assert.deepEqual(countsOf(await importCsv(app, bytes, `?encoding=${encoding}`)), [1, 0, 0, 0], encoding)
    assert.deepEqual(await takePlants(app), [[1n, 'Açaí €']], encoding)
  }
  const utf16 = await rejectedCsv(app, little, 40002)
  assert.equal(utf16.message, 'The text is in UTF-16. Set the parameter encoding to utf-16le.')
  assert.deepEqual(utf16.details.fields, [{ name: '', rule: 'utf-8', line: 1 }])
  const other = await rejectedCsv(app, Buffer.from(little).swap16(), 40002)
  assert.match(other.message, /encoding to utf-16be/)
  const broken = Buffer.concat([little, Buffer.from([0x00, 0xd8, 0x0a, 0x00])])
  const invalid = await rejectedCsv(app, broken, 40002, '?encoding=utf-16le')
  assert.match(invalid.message, /^The text is not valid utf-16le\. /)
  assert.deepEqual([invalid.details.parameter, invalid.details.outcome], ['encoding', 'none'])
  for (const encoding of ['', 'klingon', 'utf-7', 'replacement']) {
    const { details } = await rejectedCsv(app, text, 40004, `?encoding=${encoding}`)
    assert.deepEqual(details, { parameter: 'encoding' })
  }
})

test('an exported CSV table is imported unchanged', async (t) => {
  const names = [
    ' ',
    'Mentha × piperita',
    '"quoted", twice',
    'two\r\nlines',
    '🌵 e\u0301',
    '\t\u0001\u2028',
    "=1+1,'",
    '"',
  ]
  for (const [id, name] of names.entries()) {
    await app.send('POST', '/plants', JSON.stringify({ id, name, ...(id % 2 === 0 && { tag: name }) }))
  }
  for (const query of ['', '?bom=1']) {
    const exported = await app.fetch(`/plants${query}`, { headers: { accept: CSV } })
    const other = await startApp(t)
    assert.deepEqual(countsOf(await importCsv(other, Buffer.from(await exported.arrayBuffer()))), [
      names.length,
      0,
      0,
      0,
    ])
    assert.deepEqual(await storedPlants(other), await storedPlants(app))
  }
  await takePlants(app)
})
