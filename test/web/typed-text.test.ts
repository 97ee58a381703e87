import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { chromiumMissing as skip } from '../support/browser/chromium.ts'
import { eventually } from '../support/eventually.ts'
import { TOKEN } from '../support/http/start-app.ts'
import { importLines, openPage, openSignedIn, signIn } from './open-page.ts'
import { startSite } from './start-site.ts'

const site = startSite((app) =>
  importLines(
    app,
    Array.from({ length: 3_000 }, (_, at) => `{"id":${at},"name":"Plant ${at}"}`),
  ),
)

const dialog = (page: Page) => page.getByRole('dialog')
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const nameField = (page: Page) => dialog(page).getByLabel('Name', { exact: true })

test('a dialog asks before it closes with typed text', { skip }, async () => {
  const { page } = await openSignedIn(site.browser, site.app)
  await page.getByRole('link', { name: 'Collection' }).click()
  await page.getByRole('link', { name: 'Plants' }).click()
  await button(page, 'Add a plant').click()
  for (const close of [
    () => page.keyboard.press('Escape'),
    () => page.evaluate('history.back()'),
    () => dialog(page).getByRole('button', { name: 'Close' }).click(),
  ]) {
    await nameField(page).fill('Ulmus glabra')
    await close()
    await dialog(page).getByText('Discard what you typed?').waitFor()
    await button(page, 'Keep editing').click()
    assert.equal(await nameField(page).inputValue(), 'Ulmus glabra')
    await eventually(async () => page.locator('#plant-name').isVisible())
  }
  await page.keyboard.press('Escape')
  await button(page, 'Discard').click()
  await dialog(page).waitFor({ state: 'detached' })
  // Without typed text it closes at once.
  await button(page, 'Plant 3').click()
  await page.locator('#plant-name:enabled').waitFor()
  await page.keyboard.press('Escape')
  await dialog(page).waitFor({ state: 'detached' })
  await page.context().close()
})

test('hint and error of a field are on lines of their own', { skip }, async () => {
  for (const width of [375, 1440]) {
    const { page } = await openSignedIn(site.browser, site.app, { width })
    await button(page, 'Add a plant').click()
    await page.getByLabel('Id', { exact: true }).fill('one')
    await button(page, 'Add').click()
    await page.locator('#plant-id-error').getByText('Enter a whole number').waitFor()
    const hint = await page.locator('#plant-id-hint').boundingBox()
    const error = await page.locator('#plant-id-error').boundingBox()
    assert.ok(hint && error && error.y >= hint.y + hint.height - 1, JSON.stringify({ hint, error }))
    await page.context().close()
  }
})

test('a number of plants is shown only if it is that of all', { skip }, async () => {
  const { page } = await openSignedIn(site.browser, site.app)
  await button(page, 'Plant 3').waitFor()
  const count = page.locator('.count')
  assert.equal(await count.textContent(), '')
  await page.getByLabel('Go to id').fill('2,900')
  await page.keyboard.press('Enter')
  await page.getByText('At id 2900.').waitFor()
  await button(page, 'Plant 2900').waitFor()
  assert.equal(await count.textContent(), '')
  await page.getByLabel('Search names').fill('plant 2999')
  await page.getByText('1 plant', { exact: true }).waitFor()
  await page.context().close()
})

test('a token is pasted with its header field, and the content has the focus', { skip }, async () => {
  const { page } = await openPage(site.browser, site.app)
  await signIn(page, `Authorization: Bearer ${TOKEN}`)
  await button(page, 'Plant 3').waitFor()
  assert.equal(await page.evaluate('document.activeElement.id'), 'content')
  await page.context().close()
})
