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

test('a file without plants is reported, and another one can be chosen', { skip }, async (context) => {
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
  for (const [name, content, text] of wrong) {
    await giveFile(page, name, content)
    await dialog.getByRole('alert').filter({ hasText: text }).waitFor()
    assert.equal(await dialog.locator('.preview').count(), 0)
  }
  await giveFile(page, 'plants.csv', 'id,name\n1,Rosa canina\n')
  await importAll(dialog)
  assert.deepEqual(await storedPlants(app), [['1', 'Rosa canina']])
  assert.equal(requests.filter((url) => url.includes('/plants/import')).length, 1)
  assert.deepEqual(faults, [])
})

test('an unclosed quotation mark is reported with its line, and with what was imported', {
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
  const result = String(await dialog.locator('.import-end').textContent())
  assert.match(result, /The row that starts on line 2,402 has no end\. Look for a quotation mark/)
  assert.match(result, /All rows before line 2,402 were processed\. No row from there on was imported\./)
  assert.match(result, /2,400 added\./)
  assert.equal((await storedPlants(app)).length, 2_400)
  assert.equal(await dialog.getByRole('button', { name: 'Resume' }).count(), 0)
})

test('a truncated compressed file is imported as far as possible', { skip }, async (context) => {
  const app = await startApp(context)
  const { page } = await openSignedIn(site.browser, app)
  const rows = Array.from({ length: 6_000 }, (_, at) => `${at + 1},${randomBytes(80).toString('hex')}\n`)
  const packed = gzipSync(`id,name\n${rows.join('')}`)
  const dialog = await chooseFile(page, 'plants.csv.gz', packed.subarray(0, packed.length * 0.9))
  await dialog.getByRole('button', { name: 'Import', exact: true }).click()
  await dialog.getByText(/The import failed\. This compressed.*damaged, incomplete/).waitFor()
  const result = String(await dialog.locator('.import-end').textContent())
  const stored = (await storedPlants(app)).length
  // The browser drops decompressed bytes when it meets the fault; how many depends on the browser.
  assert.ok(stored < 5_500, `${stored} are stored`)
  assert.ok(result.includes(`${stored.toLocaleString('en')} added.`), result)
  const from = `before line ${(stored + 2).toLocaleString('en')} were processed. No row from there on`
  assert.ok(result.includes(stored === 0 ? 'Nothing was imported.' : from), result)
  assert.equal(await dialog.getByRole('button', { name: 'Resume' }).count(), 0)
})
