import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chromiumMissing as skip } from '../support/browser/chromium.ts'
import { importLines, openPage, signIn } from './open-page.ts'
import { startSite } from './start-site.ts'

const site = startSite((app) => importLines(app, ['{"id":1,"name":"Quercus robur"}']))

/** A browser that blocks storage, and one without space. */
const FORBIDDEN = `for (const name of ['localStorage', 'sessionStorage']) {
  Object.defineProperty(window, name, { get() { throw new DOMException('denied', 'SecurityError') } })
}`
const FULL = `Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') }`

for (const [name, script] of Object.entries({
  'nothing may be kept': FORBIDDEN,
  'all space is taken': FULL,
})) {
  test(`signing in, working and signing out work in a browser where ${name}`, { skip }, async () => {
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
