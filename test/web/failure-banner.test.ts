import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { chromiumMissing as skip } from '../support/browser/chromium.ts'
import { eventually } from '../support/eventually.ts'
import { idsShown, importLines, openSignedIn } from './open-page.ts'
import { startSite } from './start-site.ts'

const PLANTS = 3_000

const site = startSite(async (app) => {
  await importLines(
    app,
    Array.from({ length: PLANTS }, (_, at) => `{"id":${at},"name":"Plant ${at}"}`),
  )
  await app.send('POST', '/tokens', '{"label":"tablet","scopes":["plants:read"]}')
})

/** The buttons of a list whose centre is covered by another element, although they are in view. */
async function coveredButtons(page: Page, list: string): Promise<string[]> {
  return page.evaluate(`(() => {
    const list = document.querySelector('${list}')
    const view = (list.closest('.scroller') ?? document.documentElement).getBoundingClientRect()
    return [...list.querySelectorAll('button')]
      .filter((button) => {
        const { left, top, width, height } = button.getBoundingClientRect()
        const [x, y] = [left + width / 2, top + height / 2]
        if (y < view.top || y > Math.min(view.bottom, innerHeight)) return false
        return document.elementFromPoint(x, y)?.closest('button') !== button
      })
      .map((button) => button.textContent)
  })()`)
}

for (const width of [375, 1280]) {
  test(`no row is covered by the failure banner, at ${width} pixels`, { skip }, async () => {
    const { page } = await openSignedIn(site.browser, site.app, { width })
    await eventually(async () => (await idsShown(page))[0] === '0')
    const gate = Promise.withResolvers<void>()
    let isAsked = false
    await page.route(/\/plants\?/, (route) => {
      isAsked = true
      return gate.promise.then(() => route.abort())
    })
    await eventually(async () => {
      await page.locator('.scroller').evaluate((list) => list.scrollTo(0, list.scrollHeight))
      return isAsked
    })
    await page.locator('.scroller').evaluate((list) => list.scrollTo(0, 0))
    await eventually(async () => (await idsShown(page))[0] === '0')
    // The last row wholly in view: the banner will make the list lower.
    await page.evaluate(`[...document.querySelectorAll('.row')]
      .findLast((row) => row.getBoundingClientRect().bottom <= row.closest('.scroller').getBoundingClientRect().bottom)
      .querySelector('button')
      .focus()`)
    gate.resolve()
    await page.locator('.banner').waitFor()
    assert.deepEqual(await coveredButtons(page, '.rows'), [])
    const isFocusInView = `(() => {
      const row = document.activeElement.closest('.row')?.getBoundingClientRect()
      return row?.bottom <= document.querySelector('.banner').getBoundingClientRect().top
    })()`
    await eventually(async () => (await page.evaluate(isFocusInView)) === true)
    await page.getByRole('button', { name: 'Plant 1', exact: true }).click()
    await page.getByRole('dialog', { name: 'Edit plant' }).waitFor()
    await page.context().close()
  })

  test(`no token is covered by the failure banner, at ${width} pixels`, { skip }, async () => {
    const { page } = await openSignedIn(site.browser, site.app, { width, path: '/?view=tokens' })
    await page.getByRole('button', { name: 'Revoke tablet' }).click()
    await page.route(/\/tokens$/, (route) => route.abort())
    await page.getByRole('button', { name: 'Keep it' }).click()
    await page.locator('.banner').waitFor()
    assert.deepEqual(await coveredButtons(page, '.tokens'), [])
    await page.context().close()
  })
}
