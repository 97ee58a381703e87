import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { test } from 'node:test'
import { chromiumMissing as skip } from '../support/browser/chromium.ts'
import { assertAccessible, PICTURES, settle } from './assert-accessible.ts'
import { openPage, openSignedIn, signIn } from './open-page.ts'
import { startSite } from './start-site.ts'
import { DEEPER_VIEWS, ODD_NAMES, storeShownThings, VIEWS } from './views.ts'

const WIDTHS = [375, 768, 1440]
const site = startSite((app) => {
  mkdirSync(PICTURES, { recursive: true })
  return storeShownThings(app)
})

for (const scheme of ['light', 'dark'] as const) {
  test(`axe finds no fault in any view, in ${scheme}`, { skip }, async () => {
    const signedOut = await openPage(site.browser, site.app, { scheme })
    await signIn(signedOut.page, 'wrong')
    await signedOut.page.getByText('token is not valid').waitFor()
    await assertAccessible(signedOut.page, 'sign-in')
    await signedOut.page.close()
    const { page } = await openSignedIn(site.browser, site.app, { scheme })
    for (const [name, arrive] of Object.entries({ ...VIEWS, ...DEEPER_VIEWS })) {
      await page.goto(site.app.url)
      await VIEWS.plants?.(page)
      await arrive(page)
      await assertAccessible(page, name)
      await page.unrouteAll({ behavior: 'ignoreErrors' })
    }
    await page.context().close()
  })
}

for (const width of WIDTHS) {
  test(`every view fits ${width} pixels, with odd names, too`, { skip }, async () => {
    const scheme = width === 768 ? 'dark' : 'light'
    const signedOut = await openPage(site.browser, site.app, { width, scheme })
    await signedOut.page.getByText('· SQLite · ready').waitFor()
    await signedOut.page.screenshot({ path: `${PICTURES}sign-in-${width}.png` })
    await signedOut.page.close()
    const { page, faults } = await openSignedIn(site.browser, site.app, { width, scheme })
    for (const [name, arrive] of Object.entries(VIEWS)) {
      faults.length = 0
      await page.goto(site.app.url)
      await VIEWS.plants?.(page)
      await arrive(page)
      await settle(page)
      await page.screenshot({ path: `${PICTURES}${name}-${width}.png` })
      const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
      assert.ok(Number(overflow) <= 0, `${name}: ${overflow} px too wide`)
      const expectedFaults = name === 'taken' ? 1 : 0
      assert.equal(faults.filter((fault) => !fault.includes('400 (Bad Request)')).length, 0, faults.join())
      assert.ok(faults.length <= expectedFaults, faults.join())
      await page.unrouteAll({ behavior: 'ignoreErrors' })
    }
    await page.context().close()
  })
}

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
