import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { chromiumMissing as skip } from '../support/browser/chromium.ts'
import { startApp } from '../support/http/start-app.ts'
import { chooseFile, giveFile, importAll, storedPlants } from './import-dialog.ts'
import { openSignedIn } from './open-page.ts'
import { startSite } from './start-site.ts'

const site = startSite()

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
)
const ZIPPED = gzipSync('id,name\n1,Rosa canina\n')

test('what is no file of plants is told, and another one is chosen', { skip }, async (context) => {
  const app = await startApp(context)
  const { page, faults, requests } = await openSignedIn(site.browser, app)
  const dialog = await chooseFile(page, 'plants.csv', '')
  await dialog.getByText('This file is empty.').waitFor()
  const wrong: [string, Buffer, RegExp][] = [
    ['plant.png', PNG, /^This is not a text file\./],
    ['blank.csv', Buffer.from('\ufeff\r\n\r\n'), /^This file is empty\./],
    ['truncated.csv.gz', ZIPPED.subarray(0, -9), /compressed.*damaged, incomplete/],
    ['broken.csv.gz', Buffer.from([0x1f, 0x8b, 1, 2, 3, 4]), /compressed.*damaged, incomplete/],
    ['empty.csv.gz', gzipSync(''), /^This file is empty\./],
  ]
  for (const [name, content, told] of wrong) {
    await giveFile(page, name, content)
    await dialog.getByRole('alert').filter({ hasText: told }).waitFor()
    assert.equal(await dialog.locator('.preview').count(), 0)
  }
  await giveFile(page, 'plants.csv', 'id,name\n1,Rosa canina\n')
  await importAll(dialog)
  assert.deepEqual(await storedPlants(app), [['1', 'Rosa canina']])
  assert.equal(requests.filter((url) => url.includes('/plants/import')).length, 1)
  assert.deepEqual(faults, [])
})

test('cells parted by semicolons are told of', { skip }, async (context) => {
  const { page } = await openSignedIn(site.browser, await startApp(context))
  const dialog = await chooseFile(page, 'plants.csv', 'id;name\n1;Rosa canina\n')
  await dialog.getByText('The cells seem to be separated by semicolons.').waitFor()
  assert.ok(await dialog.getByRole('button', { name: 'Import', exact: true }).isDisabled())
})

test('a quotation mark that is never closed is told with its line, and what is stored', {
  skip,
}, async (context) => {
  const app = await startApp(context)
  const { page } = await openSignedIn(site.browser, app)
  const rows = Array.from(
    { length: 2_500 },
    (_, at) => `${at + 1},${at === 2_400 ? '"' : ''}Rosa ${at + 1}\n`,
  )
  const dialog = await chooseFile(page, 'plants.csv', `id,name\n${rows.join('')}`)
  await dialog.getByRole('button', { name: 'Import', exact: true }).click()
  await dialog.getByText('The import failed.').waitFor()
  const told = String(await dialog.locator('.import-end').textContent())
  assert.match(told, /The row that starts on line 2,402 has no end\. Look for a quotation mark/)
  assert.match(told, /All rows before line 2,402 were processed\. No row from there on was imported\./)
  assert.match(told, /2,400 added\./)
  assert.equal((await storedPlants(app)).length, 2_400)
  assert.equal(await dialog.getByRole('button', { name: 'Resume' }).count(), 0)
})

test('a compressed file that is cut off is imported as far as it goes', { skip }, async (context) => {
  const app = await startApp(context)
  const { page } = await openSignedIn(site.browser, app)
  const rows = Array.from({ length: 6_000 }, (_, at) => `${at + 1},${randomBytes(80).toString('hex')}\n`)
  const packed = gzipSync(`id,name\n${rows.join('')}`)
  const dialog = await chooseFile(page, 'plants.csv.gz', packed.subarray(0, packed.length * 0.9))
  await dialog.getByRole('button', { name: 'Import', exact: true }).click()
  await dialog.getByText(/The import failed\. This compressed.*damaged, incomplete/).waitFor()
  const told = String(await dialog.locator('.import-end').textContent())
  const stored = (await storedPlants(app)).length
  // What was decompressed is dropped when the fault is met: how much that is, is the browser's own affair.
  assert.ok(stored < 5_500, `${stored} are stored`)
  assert.ok(told.includes(`${stored.toLocaleString('en')} added.`), told)
  const from = `before line ${(stored + 2).toLocaleString('en')} were processed. No row from there on`
  assert.ok(told.includes(stored === 0 ? 'Nothing was imported.' : from), told)
  assert.equal(await dialog.getByRole('button', { name: 'Resume' }).count(), 0)
})
