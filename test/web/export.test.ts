import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chromiumMissing as skip } from '../support/browser/chromium.ts'
import { startApp } from '../support/http/start-app.ts'
import { importLines, openBrowser, openSignedIn, textOf } from './open-page.ts'

test('the filtered plants are saved to a file, with exact ids', { skip }, async (context) => {
  const app = await startApp(context)
  await importLines(app, [
    '{"id":9007199254740993,"name":"Quercus ×hispanica, \\"Lucombeana\\"","tag":"tree"}',
    '{"id":9223372036854775807,"name":"Rosa canina","tag":"shrub"}',
  ])
  const { page, faults } = await openSignedIn(await openBrowser(context), app, { path: '/?tag=tree' })
  await page.getByRole('button', { name: 'Export' }).click()
  await page.getByText('Saves all plants tagged “tree”').waitFor()
  for (const [format, name, begin] of [
    ['CSV', 'plants.csv', '\ufeffid,name,tag,createdAt,updatedAt\r\n9007199254740993,"Quercus ×hispanica, '],
    ['NDJSON', 'plants.ndjson', '{"id":9007199254740993,"name":"Quercus ×hispanica, '],
  ] as const) {
    await page.getByLabel(new RegExp(`^${format}`)).check()
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Save file' }).click()
    const file = await saved
    assert.equal(file.suggestedFilename(), name)
    const text = await textOf(file)
    assert.ok(text.startsWith(begin), text)
    assert.ok(!text.includes('Rosa'))
    await page.getByText('Saved: 1 kB.').waitFor()
  }
  assert.deepEqual(faults, [])
})

test('an aborted export saves nothing and reports the failure', { skip }, async (context) => {
  const app = await startApp(context)
  await importLines(app, ['{"id":1,"name":"Quercus robur"}'])
  const { page } = await openSignedIn(await openBrowser(context), app)
  await page.getByRole('button', { name: 'Export' }).click()
  await page.route(/\/plants\?bom=1/, (route) => route.abort())
  let downloads = 0
  page.on('download', () => {
    downloads += 1
  })
  await page.getByRole('button', { name: 'Save file' }).click()
  await page.getByText("Can't reach the server.").waitFor()
  assert.equal(downloads, 0)
})
