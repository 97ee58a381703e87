import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { chromiumMissing as skip } from '../support/browser/chromium.ts'
import { importLines, openPage, openSignedIn } from './open-page.ts'
import { startSite } from './start-site.ts'

/** More than a view has: who presses Tab as often and has not come around is trapped. */
const STOPS_MAX = 40

const site = startSite(async (app) => {
  await importLines(
    app,
    Array.from({ length: 300 }, (_, at) => JSON.stringify({ id: at, name: `Rosa ${at}`, tag: 'shrub' })),
  )
  await app.send('POST', '/tokens', '{"label":"tablet","scopes":["plants:read"]}')
})

/** What has the focus: its name, '' for the page as a whole, and what is wrong with how that shows. */
async function focused(page: Page): Promise<{ name: string; fault: string }> {
  return page.evaluate(`(() => {
    const element = document.activeElement
    if (element === null || element === document.body) return { name: '', fault: '' }
    const label = element.labels?.[0]?.textContent
    const name = element.getAttribute('aria-label') || label || element.textContent || element.id
    const box = element.getBoundingClientRect()
    const rings = [element, element.parentElement].map((one) => getComputedStyle(one))
    rings.push(getComputedStyle(element, '::after'))
    const hasRing = rings.some((style) => style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2)
    const isInView = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth
    return { name, fault: [!hasRing && 'no ring', !isInView && 'out of view'].filter(Boolean).join() }
  })()`)
}

/** Presses Tab until it has come around, and tells by which stops. */
async function stopsOf(page: Page): Promise<string[]> {
  const stops: string[] = []
  for (;;) {
    await page.keyboard.press('Tab')
    const { name, fault } = await focused(page)
    if (name === '' || (stops.length > 1 && name === stops[0])) return stops
    assert.equal(fault, '', name)
    stops.push(name)
    assert.ok(stops.length < STOPS_MAX, stops.join(' | '))
  }
}

const HEADER = ['Skip to content', 'Plants', 'Collection', 'Tokens', 'Sign out']
const FOOTER = ['API reference', 'OpenAPI']
const VIEWS = {
  plants: ['Export', 'Import', 'Add a plant', 'Search names', 'Tag', 'Go to id', 'Go', 'Rosa 0'],
  collection: ['Choose a bar', 'Numbers', 'shrub'],
  tokens: ['Create token', 'Rotate tablet', 'Revoke tablet'],
}

for (const [view, inside] of Object.entries(VIEWS)) {
  test(`the tab key goes through the view ${view} in its order, once, and is seen`, { skip }, async () => {
    const { page } = await openSignedIn(site.browser, site.app, { path: `/?view=${view}` })
    await page
      .getByRole(view === 'collection' ? 'link' : 'button', { name: inside.at(-1) ?? '', exact: true })
      .waitFor()
    await page.getByText('· ready').waitFor()
    if (view === 'collection') await page.locator('.timeline').waitFor()
    await page.evaluate('document.activeElement.blur()')
    // From the beginning, wherever the focus was before.
    await page.evaluate("document.querySelector('.skip').focus()")
    const stops = [(await focused(page)).name, ...(await stopsOf(page))]
    assert.deepEqual(stops, [...HEADER, ...inside, ...FOOTER])
    await page.close()
  })
}

test('at the way in the tab key comes by the token first', { skip }, async () => {
  const { page } = await openPage(site.browser, site.app)
  await page.getByText('· ready').waitFor()
  assert.equal((await focused(page)).name, 'Token')
  const rest = ['Show the token', 'Remember it in this browser', 'Sign in', ...FOOTER]
  assert.deepEqual(await stopsOf(page), rest)
  await page.close()
})

test('Escape closes each dialog and gives the focus back to what opened it', { skip }, async () => {
  for (const [path, opener] of [
    ['/', 'Export'],
    ['/', 'Import'],
    ['/', 'Add a plant'],
    ['/', 'Rosa 2'],
    ['/?view=tokens', 'Create token'],
    ['/?view=tokens', 'Rotate tablet'],
    ['/?view=tokens', 'Revoke tablet'],
  ] as const) {
    const { page } = await openSignedIn(site.browser, site.app, { path })
    await page.getByRole('button', { name: opener, exact: true }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    assert.notEqual((await focused(page)).name, opener)
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    assert.deepEqual(await focused(page), { name: opener, fault: '' })
    await page.close()
  }
})
