import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { chromiumMissing as skip } from '../support/browser/chromium.ts'
import { eventually } from '../support/eventually.ts'
import { idsShown, importLines, openSignedIn } from './open-page.ts'
import { startSite } from './start-site.ts'

const PLANTS = 3_000
/** The page retries some seconds after a failure. A busy machine is slower. */
const BACK_WITHIN_MS = 20_000

const site = startSite((app) =>
  importLines(
    app,
    Array.from({ length: PLANTS }, (_, at) => `{"id":${at},"name":"Plant ${at}"}`),
  ),
)

async function isAtEnd(page: Page): Promise<boolean> {
  await page.locator('.scroller').evaluate((element) => {
    const list = element as unknown as { scrollTop: number; scrollHeight: number }
    list.scrollTop = list.scrollHeight
  })
  return (await idsShown(page)).at(-1) === String(PLANTS - 1)
}

test('a lost connection while scrolling is reported, and the list resumes by itself', {
  skip,
}, async () => {
  const { page } = await openSignedIn(site.browser, site.app)
  await eventually(async () => (await idsShown(page))[0] === '0')
  await page.context().setOffline(true)
  const banner = page.getByText("Can't reach the server. Check your connection.")
  await eventually(async () => {
    assert.equal(await isAtEnd(page), false)
    return banner.isVisible()
  }, BACK_WITHIN_MS)
  await page.context().setOffline(false)
  await banner.waitFor({ state: 'detached', timeout: BACK_WITHIN_MS })
  await eventually(() => isAtEnd(page), BACK_WITHIN_MS)
  await page.context().close()
})

test('the web app waits for a throttled request, or shows how long the wait would be', { skip }, async () => {
  const { page } = await openSignedIn(site.browser, site.app)
  await eventually(async () => (await idsShown(page))[0] === '0')
  // Longer than the web app waits.
  let seconds = 90
  let rejected = 0
  await page.route(/\/plants\/7$/, (route) => {
    if (route.request().method() !== 'PATCH' || rejected === 2) return route.continue()
    rejected += 1
    return route.fulfill({
      status: 429,
      headers: { 'retry-after': String(seconds) },
      json: { error: 42901, message: 'Too many requests.' },
    })
  })
  const save = page.getByRole('button', { name: 'Save', exact: true })
  await page.getByRole('button', { name: 'Plant 7', exact: true }).click()
  await page.locator('#plant-name:enabled').fill('Another name')
  await save.click()
  await page.getByText('Too many requests. Try again in 90 seconds.').waitFor()
  assert.equal(await page.locator('#plant-name').inputValue(), 'Another name')
  seconds = 1
  await save.click()
  await page.getByText('Saved: Another name').waitFor()
  assert.equal(rejected, 2)
  await page.context().close()
})
