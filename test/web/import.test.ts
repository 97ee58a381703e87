import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { chromiumMissing as skip } from '../support/browser/chromium.ts'
import { startApp } from '../support/http/start-app.ts'
import {
  chooseFile,
  columnRoles,
  idIsSuggested,
  importAll,
  previewCells,
  storedPlants,
} from './import-dialog.ts'
import { importLines, openSignedIn } from './open-page.ts'
import { startSite } from './start-site.ts'

const site = startSite()

test('a table with a header row is previewed and imported, with exact ids', { skip }, async (context) => {
  const app = await startApp(context)
  const { page, faults } = await openSignedIn(site.browser, app)
  const rows = [
    'tag,height,NAME,id',
    'tree,3,Quercus robur,9223372036854775807',
    ',2,Rosa canina,-9223372036854775808',
    'herb,1,Medicago ×varia,9007199254740993',
    'herb,1,one more,4',
    'herb,1,and one,5',
    'herb,1,not shown,6',
  ]
  const dialog = await chooseFile(page, 'plants.csv', rows.join('\r\n'))
  await dialog.locator('.preview tbody tr').first().waitFor()
  assert.deepEqual(await columnRoles(dialog), ['tag', '', 'name', 'id'])
  const cells = await previewCells(dialog)
  assert.equal(cells.length, 5)
  assert.deepEqual(cells[0], ['tree', '3', 'Quercus robur', '9223372036854775807'])
  assert.ok(await dialog.getByLabel('The first row names the columns').isChecked())
  assert.equal(await dialog.getByLabel('First id').count(), 0)
  await importAll(dialog)
  await dialog.getByText('6 added.').waitFor()
  assert.deepEqual(await storedPlants(app), [
    ['-9223372036854775808', 'Rosa canina'],
    ['4', 'one more', 'herb'],
    ['5', 'and one', 'herb'],
    ['6', 'not shown', 'herb'],
    ['9007199254740993', 'Medicago ×varia', 'herb'],
    ['9223372036854775807', 'Quercus robur', 'tree'],
  ])
  await dialog.getByText('Close', { exact: true }).click()
  await page.getByRole('button', { name: 'Medicago ×varia' }).waitFor()
  assert.deepEqual(faults, [])
})

test('in a table without a header row the user names the columns, and rows get ids', {
  skip,
}, async (context) => {
  const app = await startApp(context)
  await importLines(app, ['{"id":41,"name":"There before"}'])
  const { page, faults } = await openSignedIn(site.browser, app)
  const dialog = await chooseFile(page, 'plants.csv', 'tree,Quercus robur\nshrub,Rosa canina\n')
  const start = dialog.getByRole('button', { name: 'Import', exact: true })
  await dialog.getByText('Choose the column that contains the names.').waitFor()
  assert.ok(await start.isDisabled())
  await dialog.getByLabel('Column 1', { exact: true }).selectOption('Tag')
  await dialog.getByLabel('Column 2', { exact: true }).selectOption('Tag')
  await dialog.getByText('Choose the column that contains the names.').waitFor()
  await dialog.getByLabel('Column 2', { exact: true }).selectOption('Name')
  await idIsSuggested(dialog, '42')
  assert.equal((await previewCells(dialog)).length, 2)
  await dialog.getByLabel('First id').fill('many')
  await dialog.getByText('Enter a whole number, such as 42').waitFor()
  assert.ok(await start.isDisabled())
  await dialog.getByLabel('First id').fill('1007')
  await importAll(dialog)
  assert.deepEqual(await storedPlants(app), [
    ['41', 'There before'],
    ['1007', 'Quercus robur', 'tree'],
    ['1008', 'Rosa canina', 'shrub'],
  ])
  assert.deepEqual(faults, [])
})

const CASES: Record<string, { file: string; content: string | Buffer; stored: string[][] }> = {
  'plants line by line': {
    file: 'plants.ndjson',
    content: '{"id":9007199254740993,"name":"Quercus robur","tag":"tree"}\n{"id":-1,"name":"Rosa"}\n',
    stored: [
      ['-1', 'Rosa'],
      ['9007199254740993', 'Quercus robur', 'tree'],
    ],
  },
  'a compressed table': {
    file: 'plants.csv.gz',
    content: gzipSync('id,name\n7,Rosa canina\n'),
    stored: [['7', 'Rosa canina']],
  },
  'a table of Windows': {
    file: 'plants.csv',
    content: Buffer.from('id,name\r\n1,A\xe7a\xed palm\r\n2,Medicago \xd7varia \x80 5\r\n', 'latin1'),
    stored: [
      ['1', 'Açaí palm'],
      ['2', 'Medicago ×varia € 5'],
    ],
  },
  'UTF-16, as spreadsheets save text': {
    file: 'plants.csv',
    content: Buffer.from('\ufeffid,name\r\n1,Açaí palm 🌴\r\n', 'utf16le'),
    stored: [['1', 'Açaí palm 🌴']],
  },
  'cells with line breaks, commas and quotation marks': {
    file: 'plants.csv',
    content: 'id,name,tag\n1,"Quercus robur,\nthe ""Queen""",tree\r\n2,Rosa,"a, b"\n',
    stored: [
      ['1', 'Quercus robur,\nthe "Queen"', 'tree'],
      ['2', 'Rosa', 'a, b'],
    ],
  },
}

test('every kind of file is previewed as it is stored', { skip }, async (context) => {
  const app = await startApp(context)
  const { page, faults } = await openSignedIn(site.browser, app)
  for (const [what, { file, content, stored }] of Object.entries(CASES)) {
    const dialog = await chooseFile(page, file, content)
    await dialog
      .locator('.preview tbody tr')
      .nth(stored.length - 1)
      .waitFor()
    const shown = (await previewCells(dialog)).map((cells) => cells.filter((cell) => cell !== ''))
    assert.deepEqual(shown.toSorted(), stored.toSorted(), what)
    await dialog.getByLabel('Replace the stored plant').check()
    await importAll(dialog)
    const plants = await storedPlants(app)
    for (const plant of stored)
      assert.deepEqual(
        plants.find(([id]) => id === plant[0]),
        plant,
        what,
      )
    await closeDialog(page)
  }
  assert.deepEqual(faults, [])
})

test('another encoding can be chosen if the guess is wrong', { skip }, async (context) => {
  const app = await startApp(context)
  const { page } = await openSignedIn(site.browser, app)
  const dialog = await chooseFile(page, 'plants.csv', Buffer.from('id,name\n1,\xd0\xee\xe7\xe0\n', 'latin1'))
  assert.equal(await dialog.getByLabel('Encoding').inputValue(), 'windows-1252')
  await dialog.getByLabel('Encoding').selectOption('Windows, Cyrillic (1251)')
  await dialog.getByRole('cell', { name: 'Роза' }).waitFor()
  await importAll(dialog)
  assert.deepEqual(await storedPlants(app), [['1', 'Роза']])
})

test('a row with a used id fails, is skipped or replaces the plant, as chosen', {
  skip,
}, async (context) => {
  const outcomes = {
    'Report the row as failed': ['0 added, 1 failed.', 'Old'],
    'Skip the row': ['0 added, 1 skipped.', 'Old'],
    'Replace the stored plant': ['0 added, 1 replaced.', 'New'],
  }
  const app = await startApp(context)
  await importLines(app, ['{"id":1,"name":"Old"}'])
  const { page } = await openSignedIn(site.browser, app)
  for (const [rule, [counts = '', name]] of Object.entries(outcomes)) {
    const dialog = await chooseFile(page, 'plants.csv', 'id,name\n1,New\n')
    await dialog.getByLabel(rule).check()
    await importAll(dialog)
    await dialog.getByText(counts, { exact: true }).waitFor()
    assert.deepEqual(await storedPlants(app), [['1', name]])
    await closeDialog(page)
  }
})

async function closeDialog(page: Page): Promise<void> {
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}
