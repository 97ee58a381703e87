import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApp } from '../../support/http/start-app.ts'
import {
  CSV,
  countsOf,
  errorsOf,
  importCsv,
  refusedCsv,
  storedPlants,
  takePlants,
} from './import-requests.ts'

// How the text of a table in CSV is taken apart.

const app = await startApp({ after })

test('the line of an error is the one on which its row begins', async () => {
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

test('rows that are not CSV, not UTF-8 or too long are refused, and the others go on', async () => {
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
  assert.match(report.errors[1]?.message ?? '', /not valid UTF-8.*encoding=windows-1252/)
  assert.deepEqual(await takePlants(app), [
    [2n, 'fine "one"'],
    [6n, '5" pot'],
  ])
})

test('a quotation mark that is never closed ends the import; the rows before it are stored', async () => {
  const body = `id,name\n${Array.from({ length: 3_000 }, (_, at) => `${at},a\n`).join('')}3000,"open\n3001,b\n`
  assert.equal(
    await refusedCsv(app, body, 40002),
    'The row that begins on line 3002 has a quotation mark that is never closed. ' +
      'The rows before line 3002 are stored: 3,000 created, 0 replaced, 0 skipped, 0 failed.',
  )
  assert.equal((await storedPlants(app)).length, 3_000)
  const dry = await refusedCsv(app, body, 40002, '?dryRun=true&onConflict=skip')
  assert.match(
    dry,
    /In this dry run nothing is stored; before line 3002: 0 created, 0 replaced, 3,000 skipped, 0 failed\.$/,
  )
  await takePlants(app)
})

test('encoding=… says in what the text is written', async () => {
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
  assert.match(
    await refusedCsv(app, little, 40002),
    /^Line 1: the text is in UTF-16\. Send it with encoding=utf-16le in the query\./,
  )
  assert.match(await refusedCsv(app, Buffer.from(little).swap16(), 40002), /encoding=utf-16be/)
  const broken = Buffer.concat([little, Buffer.from([0x00, 0xd8, 0x0a, 0x00])])
  assert.match(
    await refusedCsv(app, broken, 40002, '?encoding=utf-16le'),
    /^The text is not valid utf-16le: .* Nothing is stored\.$/,
  )
  for (const encoding of ['', 'klingon', 'utf-7', 'replacement']) {
    assert.match(await refusedCsv(app, text, 40004, `?encoding=${encoding}`), /^encoding must be one that/)
  }
})

test('what was exported as CSV is imported again as it was', async (t) => {
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
