import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { createArrayConverter, createTableConverter } from '../../web/app/import/converted-text.ts'
import { chromiumMissing as skip } from '../support/browser/chromium.ts'
import { startApp } from '../support/http/start-app.ts'
import {
  chooseFile,
  columnRoles,
  giveFile,
  idIsSuggested,
  importAll,
  previewCells,
  storedPlants,
} from './import-dialog.ts'
import { openSignedIn } from './open-page.ts'
import { startSite } from './start-site.ts'

const site = startSite()

const bytes = (text: string) => new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>

/** The converted text, whose bytes arrive a few at a time. */
function converted(
  text: string,
  { convert, end }: ReturnType<typeof createArrayConverter>,
  size: number,
): string {
  const all = bytes(text)
  let result = ''
  for (let at = 0; at < all.length; at += size) {
    result += Buffer.from(convert(all.slice(at, at + size))).toString('latin1')
  }
  return Buffer.from(result + Buffer.from(end()).toString('latin1'), 'latin1').toString()
}

test('a table with semicolons becomes one with commas, line by line', () => {
  const table = 'Nr;Name\r\n\r\n1;"Rosa; wild, ""red""\r\nand white"\r\n2;Ärger, alone;\r\n3;"a"b,c'
  const wanted = 'Nr,Name\n\n1,"Rosa; wild, ""red""\r\nand white"\n2,"Ärger, alone",\n3,"a"b,c\n'
  for (const size of [1, 3, 1_000]) assert.equal(converted(table, createTableConverter(';'), size), wanted)
})

test('a byte order mark before a table with semicolons is dropped', () => {
  for (const size of [1, 2, 1_000]) {
    const table = converted('\ufeff"Rosa; wild";"3"\n4;5', createTableConverter(';'), size)
    assert.equal(table, 'Rosa; wild,3\n4,5\n')
  }
})

test('a JSON array becomes a line for each plant, with exact ids', () => {
  const array =
    '[\n {"id": 9007199254740993,\n "name": "a, [b] {\\"c\\\\"},\n {"id":2,"name":"]","more":[1,{"x":2}]}\n]\n'
  const lines = converted(array, createArrayConverter(), 2)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  assert.deepEqual(lines, [
    '{"id": 9007199254740993,  "name": "a, [b] {\\"c\\\\"}',
    '{"id":2,"name":"]","more":[1,{"x":2}]}',
  ])
})

test('the browser offers every kind of file that can be imported', { skip }, async (context) => {
  const { page } = await openSignedIn(site.browser, await startApp(context))
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  const accept = (await page.getByLabel('File to import').getAttribute('accept'))?.split(',') ?? []
  for (const ending of ['.csv', '.tsv', '.txt', '.json', '.ndjson', '.jsonl', '.gz'])
    assert.ok(accept.includes(ending), ending)
})

test('tables and arrays of other programs are imported as they are meant', { skip }, async (context) => {
  const windows = Buffer.from('Nr;Bezeichnung;Typ\r\n7;Färberwaid, echt;Kraut\r\n8;Rose;\r\n', 'latin1')
  const wide = Buffer.from('\ufeffaccession\tspecies\r\n11\tRosa canina\r\n', 'utf16le')
  for (const [name, content, wanted] of [
    [
      'excel.csv',
      windows,
      [
        ['7', 'Färberwaid, echt', 'Kraut'],
        ['8', 'Rose'],
      ],
    ],
    ['unicode.txt', wide, [['11', 'Rosa canina']]],
    ['plants.tsv', 'id\tname\n1\tRosa, wild\n', [['1', 'Rosa, wild']]],
    [
      'plants.json',
      '[\n  {"id": 9007199254740993, "name": "Açaí"},\n  {"id": 2, "name": "Rosa"}\n]\n',
      [
        ['2', 'Rosa'],
        ['9007199254740993', 'Açaí'],
      ],
    ],
  ] as const) {
    const app = await startApp(context)
    const { page } = await openSignedIn(site.browser, app)
    const dialog = await chooseFile(page, name, content)
    await importAll(dialog)
    assert.deepEqual(await storedPlants(app), wanted, name)
    await page.context().close()
  }
})

test('a column named like ids without whole numbers is not taken for ids', { skip }, async (context) => {
  const app = await startApp(context)
  const { page } = await openSignedIn(site.browser, app)
  const dialog = await chooseFile(page, 'plants.csv', 'Accession;Nom\n2019-0123;Rosa\n2019-0124;Ulmus\n')
  assert.deepEqual(await columnRoles(dialog), ['', 'name'])
  await idIsSuggested(dialog, '1')
  // Chosen by hand, they cannot be right.
  await dialog.locator('.preview select').first().selectOption('id')
  await dialog.getByText('The column of ids contains no whole numbers.').waitFor()
  assert.ok(await dialog.getByRole('button', { name: 'Import', exact: true }).isDisabled())
  await dialog.getByRole('button', { name: 'Choose another file' }).click()
  await giveFile(page, 'other.json', '{\n "plants": 3\n}\n')
  await dialog.getByText('These are not plants').waitFor()
  assert.ok(await dialog.getByRole('button', { name: 'Import', exact: true }).isDisabled())
})

test('“Check first” finds ids that repeat within a converted file', { skip }, async (context) => {
  const app = await startApp(context)
  const { page } = await openSignedIn(site.browser, app)
  const dialog = await chooseFile(page, 'excel.csv', '\r\nNr;Name;Typ\r\n1;"Rosa\r\ncanina";\r\n1;Ulmus;\r\n')
  async function check(): Promise<void> {
    await dialog.getByRole('button', { name: 'Check first' }).click()
    await dialog.getByText('Of 2 rows, 1 would be added, 1 would fail.', { exact: false }).waitFor()
    assert.equal(await dialog.getByText('found only during the import').count(), 0)
  }
  await check()
  await dialog.getByText('Line 5, id 1').waitFor()
  for (const [name, content, line] of [
    ['plants.json', '[\n{"id":1,"name":"Rosa"},\n\n{"id":1,"name":"Ulmus"}]', 2],
    ['chosen.csv.gz', gzipSync('Nr,Nom\n1,Rosa\n1,Ulmus\n'), 3],
    ['wide.csv', Buffer.from('\ufeffNr,Nom\n1,Rosa\n1,Ulmus\n', 'utf16le'), 3],
    ['wide.ndjson', Buffer.from('\ufeff{"id":1,"name":"Rosa"}\n{"id":1,"name":"Ulmus"}\n', 'utf16le'), 2],
  ] as const) {
    await dialog.getByRole('button', { name: 'Choose another file' }).click()
    await giveFile(page, name, content)
    await check()
    await dialog.getByText(`Line ${line}, id 1`).waitFor()
  }
})

test('a table of only a header row is checked', { skip }, async (context) => {
  const { page } = await openSignedIn(site.browser, await startApp(context))
  const dialog = await chooseFile(page, 'excel.csv', 'Nr;Name\r\n')
  for (const content of ['Nr;Name\r\n', 'Nr,Nom\n']) {
    await dialog.getByRole('button', { name: 'Choose another file' }).click()
    await giveFile(page, 'excel.csv', content)
    await dialog.getByRole('button', { name: 'Check first' }).click()
    await dialog.getByText('Of 0 rows, 0 would be added.').waitFor()
  }
})

test('other headings count beside the column name', { skip }, async (context) => {
  const { page } = await openSignedIn(site.browser, await startApp(context))
  const dialog = await chooseFile(page, 'plants.csv', 'Nr;Name;Gruppe\r\n7;Rosa;shrub\r\n')
  assert.deepEqual(await columnRoles(dialog), ['id', 'name', 'tag'])
  await dialog.getByRole('button', { name: 'Choose another file' }).click()
  await giveFile(page, 'plants.csv', 'id,name,type\n7,Rosa,shrub\n')
  assert.deepEqual(await columnRoles(dialog), ['id', 'name', ''])
})

test('the delimiter can be chosen if the guess is wrong', { skip }, async (context) => {
  const app = await startApp(context)
  const { page, faults } = await openSignedIn(site.browser, app)
  const dialog = await chooseFile(page, 'plants.csv', 'Rosa, wild;shrub\nUlmus, old;tree\n')
  const delimiter = dialog.getByLabel('Columns separated by')
  assert.equal(await delimiter.inputValue(), ',')
  await delimiter.selectOption('Semicolons')
  assert.deepEqual(await previewCells(dialog), [
    ['Rosa, wild', 'shrub'],
    ['Ulmus, old', 'tree'],
  ])
  await dialog.locator('.preview select').first().selectOption('name')
  await dialog.locator('.preview select').last().selectOption('tag')
  await idIsSuggested(dialog, '1')
  await importAll(dialog)
  assert.deepEqual(await storedPlants(app), [
    ['1', 'Rosa, wild', 'shrub'],
    ['2', 'Ulmus, old', 'tree'],
  ])
  assert.deepEqual(faults, [])
})
