import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Locator, Page } from 'playwright-core'
import { chromiumMissing as skip } from '../support/browser/chromium.ts'
import { startApp } from '../support/http/start-app.ts'
import { chooseFile, giveFile, idIsSuggested, importAll, storedPlants } from './import-dialog.ts'
import { importLines, openSignedIn, textOf } from './open-page.ts'
import { startSite } from './start-site.ts'

const site = startSite()

/** Rows of several lines come before the failed ones. */
const HEADER = '\ufefftag,"name",id\r\n'
const ROWS = {
  good: 'tree,"Quercus robur,\r\nthe ""Queen""",1\r\n',
  idWrong: 'shrub,"Rosa\ncanina",one\r\n',
  goodToo: 'herb,Medicago ×varia,9007199254740993\n',
  nameMissing: 'herb,,9007199254740994\n',
  taken: 'herb,Once more,1',
}
const TABLE = HEADER + Object.values(ROWS).join('')

/** The failed rows that the dialog lists, as line and id. */
async function failedRows(dialog: Locator): Promise<string[]> {
  return dialog.locator('.failed-rows li strong').allTextContents()
}

async function savedRows(page: Page): Promise<{ name: string; text: string }> {
  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Save the failed rows' }).click()
  const file = await saved
  return { name: file.suggestedFilename(), text: await textOf(file) }
}

test('“Check first” stores nothing and reports what would happen to the rows', { skip }, async (context) => {
  const app = await startApp(context)
  await importLines(app, ['{"id":7,"name":"There before"}'])
  const { page, faults } = await openSignedIn(site.browser, app)
  const table = `${TABLE}\nherb,New,7\n`
  const outcomes = {
    'Report the row as failed': 'Of 6 rows, 2 would be added, 4 would fail.',
    'Skip the row': 'Of 6 rows, 2 would be added, 2 would be skipped, 2 would fail.',
    'Replace the stored plant': 'Of 6 rows, 2 would be added, 2 would replace a plant, 2 would fail.',
  }
  const dialog = await chooseFile(page, 'plants.csv.gz', gzipSync(table))
  for (const [rule, counts] of Object.entries(outcomes)) {
    await dialog.getByLabel(rule).check()
    await dialog.getByRole('button', { name: 'Check first' }).click()
    await dialog.getByText(`Checked. Nothing is imported yet. ${counts}`).waitFor()
    const taken = rule === 'Report the row as failed' ? ['Line 8, id 1', 'Line 9, id 7'] : []
    const lines = ['Line 4', 'Line 7, id 9007199254740994', ...taken]
    assert.deepEqual(await failedRows(dialog), lines)
    assert.deepEqual(await storedPlants(app), [['7', 'There before']])
  }
  // With roles that differ from the header row, line numbers are still those of the file.
  await dialog.getByLabel('Column 1, tag').selectOption('ignored')
  assert.equal(await dialog.getByText('Nothing is imported yet').count(), 0)
  await dialog.getByRole('button', { name: 'Check first' }).click()
  await dialog.getByText('Of 6 rows').waitFor()
  assert.deepEqual(await failedRows(dialog), ['Line 4', 'Line 7, id 9007199254740994'])
  assert.deepEqual(await storedPlants(app), [['7', 'There before']])
  assert.deepEqual(faults, [])
})

test('failed rows are listed by line, saved unchanged, and imported after a correction', {
  skip,
}, async (context) => {
  const app = await startApp(context)
  const { page, faults } = await openSignedIn(site.browser, app)
  const dialog = await chooseFile(page, 'my plants.csv', TABLE)
  await importAll(dialog)
  await dialog.getByText('2 added, 3 failed.', { exact: true }).waitFor()
  assert.deepEqual(await failedRows(dialog), ['Line 4', 'Line 7, id 9007199254740994', 'Line 8, id 1'])
  const { name, text } = await savedRows(page)
  assert.equal(name, 'my plants-failed.csv')
  assert.equal(text, HEADER + ROWS.idWrong + ROWS.nameMissing + ROWS.taken)
  await dialog.getByRole('button', { name: 'Choose another file' }).click()
  const corrected = text.replace(',one', ',2').replace(',,', ',Salvia,').replace('more,1', 'more,3')
  await giveFile(page, name, corrected)
  await importAll(dialog)
  await dialog.getByText('3 added.', { exact: true }).waitFor()
  assert.deepEqual(await storedPlants(app), [
    ['1', 'Quercus robur,\r\nthe "Queen"', 'tree'],
    ['2', 'Rosa\ncanina', 'shrub'],
    ['3', 'Once more', 'herb'],
    ['9007199254740993', 'Medicago ×varia', 'herb'],
    ['9007199254740994', 'Salvia', 'herb'],
  ])
  assert.deepEqual(faults, [])
})

test('failed rows that got ids keep them', { skip }, async (context) => {
  const app = await startApp(context)
  const { page } = await openSignedIn(site.browser, app)
  const dialog = await chooseFile(page, 'plants.csv', 'name,tag\nRosa,shrub\n,tree\nSalvia,herb\n')
  await idIsSuggested(dialog, '1')
  await importAll(dialog)
  const { text } = await savedRows(page)
  assert.equal(text, 'id,name,tag\n2,,tree\n')
  await dialog.getByRole('button', { name: 'Choose another file' }).click()
  await giveFile(page, 'corrected.csv', text.replace(',,', ',Quercus,'))
  await importAll(dialog)
  assert.deepEqual(await storedPlants(app), [
    ['1', 'Rosa', 'shrub'],
    ['2', 'Quercus', 'tree'],
    ['3', 'Salvia', 'herb'],
  ])
})

test('failed lines of NDJSON are saved unchanged', { skip }, async (context) => {
  const app = await startApp(context)
  const { page } = await openSignedIn(site.browser, app)
  const lines = [
    '{"id":1,"name":"Rosa"}',
    '{"id":"2","name":"Salvia"}',
    '',
    '{"id":3,',
    '{"id":4,"name":"Fern"}',
  ]
  const dialog = await chooseFile(page, 'plants.ndjson', lines.join('\n'))
  await importAll(dialog)
  assert.deepEqual(
    (await failedRows(dialog)).map((row) => row.slice(0, 6)),
    ['Line 2', 'Line 4'],
  )
  const { name, text } = await savedRows(page)
  assert.equal(name, 'plants-failed.ndjson')
  assert.equal(text, `${lines[1]}\n${lines[3]}\n`)
  assert.deepEqual(await storedPlants(app), [
    ['1', 'Rosa'],
    ['4', 'Fern'],
  ])
})
