import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chromiumMissing as skip } from '../support/browser/chromium.ts'
import { eventually } from '../support/eventually.ts'
import { idsShown, importLines, openSignedIn } from './open-page.ts'
import { startSite } from './start-site.ts'

const PLANTS = 2_000
/** The printable area of an A4 sheet in CSS pixels. */
const SHEET = { width: 718, height: 1_047 }

const site = startSite((app) =>
  importLines(
    app,
    Array.from({ length: PLANTS }, (_, at) => `{"id":${at},"name":"Quercus robur ${at}","tag":"tree"}`),
  ),
)

test('printing gives a table of the visible plants with their range', {
  skip,
}, async () => {
  const { page } = await openSignedIn(site.browser, site.app, {
    ...SHEET,
    path: '/?q=quercus&tag=tree&at=700',
  })
  await eventually(async () => (await idsShown(page)).includes('720'))
  // A focused row stays in the document when the list scrolls on.
  await page.getByRole('button', { name: 'Quercus robur 700', exact: true }).focus()
  await page.locator('.scroller').evaluate((list) => list.scrollBy(0, 5_000))
  await eventually(async () => (await idsShown(page)).includes('790'))
  const shown = await idsShown(page)
  const top = await page.locator('.scroller').evaluate((list) => list.scrollTop)
  const printed = page.locator('.printed')
  assert.equal(await printed.count(), 0)
  await page.emulateMedia({ media: 'print' })
  await printed.waitFor()
  const ids = await printed.locator('tbody td:first-child').allTextContents()
  assert.deepEqual(
    ids,
    shown.filter((id) => id !== '700'),
  )
  assert.equal(
    await printed.locator('caption').textContent(),
    `Plants from id ${ids[0]} to id ${ids.at(-1)}, as shown in the web app. Export a file to get all plants.` +
      ' Only names with “quercus”. Only the tag “tree”.',
  )
  assert.equal(await page.evaluate('document.documentElement.scrollWidth'), SHEET.width)
  for (const hidden of ['.tools', '.top nav', '.skip', 'footer.service', '.plants-head button', '.row']) {
    assert.equal(await page.locator(hidden).first().isVisible(), false, hidden)
  }
  await page.emulateMedia({ media: 'screen' })
  await printed.waitFor({ state: 'detached' })
  assert.ok(await page.locator('.tools').isVisible())
  assert.equal(await page.locator('.scroller').evaluate((list) => list.scrollTop), top)
  await page.context().close()
})

test('a dialog is printed alone', { skip }, async () => {
  const { page } = await openSignedIn(site.browser, site.app, SHEET)
  await page.getByRole('button', { name: 'Quercus robur 1', exact: true }).click()
  await page.locator('#plant-name:enabled').waitFor()
  await page.emulateMedia({ media: 'print' })
  assert.ok(await page.getByRole('dialog').isVisible())
  assert.equal(await page.locator('.printed').isVisible(), false)
  await page.context().close()
})
