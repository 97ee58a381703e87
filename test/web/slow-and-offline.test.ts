import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chromiumMissing as skip } from '../support/browser/chromium.ts'
import { chooseFile } from './import-dialog.ts'
import { holdRequests, openSignedIn } from './open-page.ts'
import { startSite } from './start-site.ts'
import { storeShownThings } from './views.ts'

const site = startSite(storeShownThings)

test('a filter that takes long is shown as loading', { skip }, async () => {
  const { page } = await openSignedIn(site.browser, site.app)
  await page.locator('.row').nth(2).waitFor()
  const letGo = await holdRequests(page, /\/plants\?/)
  await page.getByLabel('Search names').fill('cactus')
  const status = page.locator('.count')
  await status.getByText('Loading …').waitFor()
  assert.equal(await page.locator('.row .id').first().textContent(), '1')
  letGo()
  await status.getByText('1 plant').waitFor()
  await page.context().close()
})

test('an import that could not be loaded opens when the connection is back', { skip }, async () => {
  const { page } = await openSignedIn(site.browser, site.app)
  const open = page.getByRole('button', { name: 'Import', exact: true })
  await page.context().setOffline(true)
  await open.click()
  await page.getByText('Import could not be loaded. Check your connection and try again.').first().waitFor()
  await page.context().setOffline(false)
  await open.click()
  await page.getByRole('dialog').getByLabel('File to import').waitFor()
  await page.context().close()
})

test('the focus ring of a field does not cover the text below it', { skip }, async () => {
  const { page } = await openSignedIn(site.browser, site.app)
  await page.getByRole('button', { name: 'Add a plant' }).click()
  for (const id of ['plant-id', 'plant-name', 'plant-tag']) {
    await page.locator(`#${id}`).focus()
    const gap = await page.evaluate(`(() => {
      const field = document.getElementById('${id}')
      const { outlineWidth, outlineOffset } = getComputedStyle(field)
      const text = field.nextElementSibling.getBoundingClientRect()
      return text.top - field.getBoundingClientRect().bottom - parseFloat(outlineWidth) - parseFloat(outlineOffset)
    })()`)
    assert.ok(Number(gap) >= 0, `${id}: ${gap} px`)
  }
  await page.context().close()
})

test('an import without a success says so, and what is missing', { skip }, async () => {
  const { page } = await openSignedIn(site.browser, site.app)
  const dialog = await chooseFile(page, 'plants.csv', 'id;name;tag\r\n;Rosa;\r\n900000;;x\r\n')
  await dialog.getByRole('button', { name: 'Import', exact: true }).click()
  await dialog.getByText('No row could be imported.').waitFor()
  const reasons = await dialog.locator('.failed-rows li').allTextContents()
  assert.deepEqual(reasons, ['Line 2 The id is missing.', 'Line 3, id 900000 The name is missing.'])
  await page.context().close()
})
