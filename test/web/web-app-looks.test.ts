import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { chromiumMissing as skip } from '../support/browser/chromium.ts'
import { assertAccessible, PICTURES, settle } from './assert-accessible.ts'
import { openPage, openSignedIn, signIn } from './open-page.ts'
import { startSite } from './start-site.ts'
import { DEEPER_VIEWS, ODD_NAMES, storeShownThings, VIEWS } from './views.ts'

const WIDTHS = [375, 768, 1440] as const
const HEIGHT = 800
const site = startSite((app) => {
  mkdirSync(PICTURES, { recursive: true })
  return storeShownThings(app)
})

test('axe finds no fault in any view, and in none of the dark ones a contrast that is too low', {
  skip,
}, async () => {
  const assertAccessibleInBoth = async (page: Page, name: string) => {
    await assertAccessible(page, name)
    await page.emulateMedia({ colorScheme: 'dark' })
    // Everything else is the same in the dark.
    await assertAccessible(page, `${name} in the dark`, ['color-contrast'])
    await page.emulateMedia({ colorScheme: 'light' })
  }
  const signedOut = await openPage(site.browser, site.app)
  await signIn(signedOut.page, 'wrong')
  await signedOut.page.getByText('token is not valid').waitFor()
  await assertAccessibleInBoth(signedOut.page, 'sign-in')
  await signedOut.page.context().close()
  const { page } = await openSignedIn(site.browser, site.app)
  for (const [name, arrive] of Object.entries({ ...VIEWS, ...DEEPER_VIEWS })) {
    await page.goto(site.app.url)
    await VIEWS.plants?.(page)
    await arrive(page)
    await assertAccessibleInBoth(page, name)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  }
  await page.context().close()
})

/** Shows the page in each width and takes a picture of it; fails where it is too wide. */
async function assertFits(page: Page, view: string): Promise<void> {
  for (const width of WIDTHS) {
    await page.emulateMedia({ colorScheme: width === 768 ? 'dark' : 'light' })
    await page.setViewportSize({ width, height: HEIGHT })
    await settle(page)
    await page.screenshot({ path: `${PICTURES}${view}-${width}.png` })
    const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
    assert.ok(Number(overflow) <= 0, `${view}: ${overflow} px too wide at ${width}`)
  }
  await page.setViewportSize({ width: WIDTHS[0], height: HEIGHT })
}

test('every view fits a phone, a tablet and a desk, with odd names, too', { skip }, async () => {
  const [width] = WIDTHS
  const signedOut = await openPage(site.browser, site.app, { width, height: HEIGHT })
  await signedOut.page.getByText('· SQLite · ready').waitFor()
  await assertFits(signedOut.page, 'sign-in')
  await signedOut.page.context().close()
  const { page, faults } = await openSignedIn(site.browser, site.app, { width, height: HEIGHT })
  for (const [name, arrive] of Object.entries(VIEWS)) {
    faults.length = 0
    await page.goto(site.app.url)
    await VIEWS.plants?.(page)
    await arrive(page)
    await assertFits(page, name)
    const expectedFaults = name === 'taken' ? 1 : 0
    assert.equal(faults.filter((fault) => !fault.includes('400 (Bad Request)')).length, 0, faults.join())
    assert.ok(faults.length <= expectedFaults, faults.join())
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  }
  await page.context().close()
})

test('any name is shown as text', { skip }, async () => {
  const { page } = await openSignedIn(site.browser, site.app)
  await VIEWS.plants?.(page)
  for (const name of ODD_NAMES) {
    const shown = name.length > 300 ? `${name.slice(0, 300)}…` : name
    assert.equal(await page.getByRole('button', { name: shown, exact: true }).count(), 1, name.slice(0, 60))
  }
  assert.equal(await page.title(), 'Plants · Plant Store')
  await page.close()
})
