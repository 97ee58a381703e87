import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { chromiumMissing as skip } from '../support/browser/chromium.ts'
import { importLines, openPage, openSignedIn, signIn } from './open-page.ts'
import { startSite } from './start-site.ts'

const site = startSite((app) =>
  importLines(
    app,
    Array.from({ length: 40 }, (_, at) => `{"id":${at},"name":"Plant ${at}","tag":"tree"}`),
  ),
)

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const dialog = (page: Page) => page.getByRole('dialog')

test('a plant that could not be loaded is retried, by button and automatically', {
  skip,
}, async () => {
  const { page } = await openSignedIn(site.browser, site.app)
  for (const [status, isByItself] of [
    [500, false],
    [429, true],
  ] as const) {
    await page.route(/\/plants\/3$/, (route) =>
      route.fulfill({ status, json: { error: status * 100, message: 'It cannot be read at the moment.' } }),
    )
    await button(page, 'Plant 3').click()
    await dialog(page).getByText('It cannot be read at the moment.').waitFor()
    assert.ok(await button(page, 'Save').isDisabled())
    await page.unroute(/\/plants\/3$/)
    if (!isByItself) await button(page, 'Try again').click()
    await page.locator('#plant-name:enabled').waitFor({ timeout: 15_000 })
    assert.equal(await dialog(page).getByText('It cannot be read at the moment.').count(), 0)
    assert.equal(await page.evaluate('document.activeElement.id'), 'plant-name')
    await page.keyboard.press('Escape')
    await dialog(page).waitFor({ state: 'detached' })
  }
  await page.context().close()
})

test('a deleted plant says so, and leaves the list', { skip }, async () => {
  const made = await site.app.send('POST', '/tokens', '{"label":"reader","scopes":["plants:read"]}')
  const reader = ((await made.json()) as { token: string }).token
  for (const [id, token] of [
    ['5', undefined],
    ['7', reader],
  ] as const) {
    const { page } = await openPage(site.browser, site.app)
    await signIn(page, token)
    await button(page, `Plant ${id}`).waitFor()
    await site.app.fetch(`/plants/${id}`, { method: 'DELETE' })
    await button(page, `Plant ${id}`).click()
    await dialog(page).getByText('This plant has been deleted.').waitFor()
    await page.keyboard.press('Escape')
    await dialog(page).waitFor({ state: 'detached' })
    await button(page, 'Plant 6').waitFor()
    assert.equal(await button(page, `Plant ${id}`).count(), 0)
    await page.context().close()
  }
})
