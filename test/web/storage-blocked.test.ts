import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chromiumMissing as skip } from '../support/browser/chromium.ts'
import { importLines, openPage, signIn } from './open-page.ts'
import { startSite } from './start-site.ts'

const site = startSite((app) => importLines(app, ['{"id":1,"name":"Quercus robur"}']))

/** What a browser does that is told to keep nothing, and what one does that has no space left. */
const FORBIDDEN = `for (const name of ['localStorage', 'sessionStorage']) {
  Object.defineProperty(window, name, { get() { throw new DOMException('denied', 'SecurityError') } })
}`
const FULL = `Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') }`

for (const [name, script] of Object.entries({
  'nothing may be kept': FORBIDDEN,
  'all space is taken': FULL,
})) {
  test(`one can sign in, work and sign out in a browser where ${name}`, { skip }, async () => {
    const { page, faults } = await openPage(site.browser, site.app)
    await page.addInitScript(script)
    await page.reload()
    await page.getByLabel('Remember it in this browser').check()
    await signIn(page)
    await page.getByRole('button', { name: 'Quercus robur' }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await signIn(page)
    await page.getByRole('button', { name: 'Quercus robur' }).waitFor()
    assert.deepEqual(faults, [])
    await page.context().close()
  })
}
