import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { chromiumMissing as skip } from '../support/browser/chromium.ts'
import { eventually } from '../support/eventually.ts'
import { chooseFile } from './import-dialog.ts'
import { holdRequests, importLines, openSignedIn } from './open-page.ts'
import { startSite } from './start-site.ts'

const site = startSite(async (app) => {
  await importLines(
    app,
    Array.from({ length: 40 }, (_, at) => `{"id":${at},"name":"Plant ${at}","tag":"tree"}`),
  )
  await app.send('POST', '/tokens', '{"label":"tablet","scopes":["plants:read"]}')
  await app.send('POST', '/tokens', '{"label":"phone","scopes":["plants:read"]}')
})

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const dialog = (page: Page) => page.getByRole('dialog')
/** Lets the page handle a response. */
const turn = (page: Page) => page.evaluate('new Promise((done) => setTimeout(done, 100))')

test('a late response closes only its own dialog', { skip }, async () => {
  const { page } = await openSignedIn(site.browser, site.app)
  await button(page, 'Plant 3').click()
  await page.locator('#plant-name:enabled').fill('Plant 3, edited')
  const letGo = await holdRequests(page, /\/plants\/3$/)
  await button(page, 'Save').click()
  await button(page, 'Saving …').waitFor()
  await page.keyboard.press('Escape')
  await dialog(page).waitFor({ state: 'detached' })
  await button(page, 'Plant 5').click()
  await page.locator('#plant-name:enabled').fill('What is being typed')
  letGo()
  await page.getByText('Saved: Plant 3, edited').waitFor()
  await turn(page)
  assert.equal(await page.locator('#plant-name').inputValue(), 'What is being typed')
  await page.context().close()
})

test('a late response to an add leaves the form of the next plant unchanged', { skip }, async () => {
  const { page } = await openSignedIn(site.browser, site.app)
  await button(page, 'Add a plant').click()
  await page.getByLabel('Id', { exact: true }).fill('500')
  await page.getByLabel('Name', { exact: true }).fill('The first one')
  const letGo = await holdRequests(page, /\/plants$/)
  await button(page, 'Add').click()
  await button(page, 'Saving …').waitFor()
  await page.keyboard.press('Escape')
  await dialog(page).waitFor({ state: 'detached' })
  await button(page, 'Add a plant').click()
  await page.getByLabel('Name', { exact: true }).fill('What is being typed')
  letGo()
  await page.getByText('Added: The first one').waitFor()
  await turn(page)
  assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'What is being typed')
  await page.context().close()
})

test('a late response to a revocation leaves the dialog of another token open', { skip }, async () => {
  const { page } = await openSignedIn(site.browser, site.app, { path: '/?view=tokens' })
  await button(page, 'Revoke tablet').click()
  const letGo = await holdRequests(page, /\/tokens\/[^/]+$/)
  await button(page, 'Revoke').click()
  await page.locator('dialog fieldset:disabled').waitFor({ state: 'attached' })
  await page.keyboard.press('Escape')
  await dialog(page).waitFor({ state: 'detached' })
  await button(page, 'Revoke phone').click()
  letGo()
  await page.getByText('Revoked: tablet').waitFor()
  await turn(page)
  await dialog(page).getByText('Revoke “phone”?').waitFor()
  await page.context().close()
})

test('Back closes the open dialog and nothing else', { skip }, async () => {
  const { page } = await openSignedIn(site.browser, site.app)
  await button(page, 'Plant 7').waitFor()
  await page.getByRole('link', { name: 'Collection' }).click()
  await page.getByRole('link', { name: 'Plants' }).click()
  await button(page, 'Plant 7').waitFor()
  await page.getByLabel('Search names').fill('plant 1')
  await page.waitForURL(/q=plant/)
  for (const [opener, inside] of [
    ['Add a plant', 'Add'],
    ['Plant 15', 'Save'],
    ['Import', 'File to import'],
    ['Export', 'Save file'],
  ] as const) {
    await button(page, opener).click()
    await dialog(page).getByText(inside).or(button(page, inside)).first().waitFor()
    await page.evaluate('history.back()')
    await dialog(page).waitFor({ state: 'detached' })
    assert.equal(new URL(page.url()).searchParams.get('q'), 'plant 1')
    assert.equal(await page.getByLabel('Search names').inputValue(), 'plant 1')
    assert.equal(await page.evaluate('document.activeElement.textContent'), opener)
  }
  await page.goBack()
  await page.waitForURL((url) => !url.search.includes('q='))
  await page.context().close()
})

test('a secret stays on the screen until the user closes it', { skip }, async () => {
  const { page } = await openSignedIn(site.browser, site.app)
  await page.getByRole('link', { name: 'Tokens' }).click()
  for (const [opener, action, url] of [
    ['Create token', 'Create token', /\/tokens$/],
    ['Rotate phone', 'Rotate', /rotate/],
  ] as const) {
    await button(page, opener).click()
    const letGo = await holdRequests(page, url)
    await dialog(page).getByRole('button', { name: action, exact: true }).click()
    await page.locator('dialog fieldset:disabled').first().waitFor({ state: 'attached' })
    for (const _ of 'too often') await page.keyboard.press('Escape')
    await page.evaluate('history.back()')
    assert.ok(await dialog(page).getByRole('button', { name: 'Cancel' }).isDisabled())
    letGo()
    await button(page, 'Done, I copied it').waitFor()
    for (const _ of 'too often') await page.keyboard.press('Escape')
    await page.evaluate('history.back()')
    await turn(page)
    assert.match(await dialog(page).getByLabel('Your new token').inputValue(), /^plst_/)
    await button(page, 'Done, I copied it').click()
    await dialog(page).waitFor({ state: 'detached' })
    assert.match(page.url(), /view=tokens/)
  }
  await page.context().close()
})

test('pressing Escape repeatedly stops an import and shows its result', { skip }, async () => {
  const { page } = await openSignedIn(site.browser, site.app)
  const rows = Array.from({ length: 3_000 }, (_, at) => `${at + 1_000},Plant\n`).join('')
  await chooseFile(page, 'plants.csv', `id,name\n${rows}`)
  const letGo = await holdRequests(page, /\/plants\/import/)
  await dialog(page).getByRole('button', { name: 'Import', exact: true }).click()
  await dialog(page).getByText('Importing …').waitFor()
  for (const _ of 'too often') await page.keyboard.press('Escape')
  letGo()
  await dialog(page).getByText('Import stopped.').first().waitFor()
  await page.keyboard.press('Escape')
  await dialog(page).waitFor({ state: 'detached' })
  await eventually(async () => (await page.evaluate('document.activeElement.textContent')) === 'Import')
  await page.context().close()
})
