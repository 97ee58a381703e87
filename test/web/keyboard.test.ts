import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { chromiumMissing as skip } from '../support/browser/chromium.ts'
import { importLines, openPage, openSignedIn } from './open-page.ts'
import { startSite } from './start-site.ts'

/** More tab stops than any view has: reaching it means that the focus is trapped. */
const STOPS_MAX = 40

const site = startSite(async (app) => {
  await importLines(
    app,
    Array.from({ length: 300 }, (_, at) => JSON.stringify({ id: at, name: `Rosa ${at}`, tag: 'shrub' })),
  )
  await app.send('POST', '/tokens', '{"label":"tablet","scopes":["plants:read"]}')
})

/** The name of the focused element, '' for the page itself, and what is wrong with its focus ring. */
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

/** Presses Tab until the focus is back at the first stop. Returns the names of the stops. */
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
  test(`Tab reaches everything in the view ${view} once, in order, with a visible focus`, {
    skip,
  }, async () => {
    const { page } = await openSignedIn(site.browser, site.app, { path: `/?view=${view}` })
    await page
      .getByRole(view === 'collection' ? 'link' : 'button', { name: inside.at(-1) ?? '', exact: true })
      .waitFor()
    await page.getByText('· ready').waitFor()
    if (view === 'collection') await page.locator('.timeline').waitFor()
    await page.evaluate('document.activeElement.blur()')
    // Start at the first stop, wherever the focus was.
    await page.evaluate("document.querySelector('.skip').focus()")
    const stops = [(await focused(page)).name, ...(await stopsOf(page))]
    assert.deepEqual(stops, [...HEADER, ...inside, ...FOOTER])
    await page.close()
  })
}

test('on the sign-in form the token has the focus, and Tab goes on in order', { skip }, async () => {
  const { page } = await openPage(site.browser, site.app)
  await page.getByText('· ready').waitFor()
  assert.equal((await focused(page)).name, 'Token')
  const rest = ['Show the token', 'Remember it in this browser', 'Sign in', ...FOOTER]
  assert.deepEqual(await stopsOf(page), rest)
  await page.close()
})

test('in the edit dialog Tab goes from the name to the buttons, with a visible focus', { skip }, async () => {
  const { page } = await openSignedIn(site.browser, site.app)
  await page.getByRole('button', { name: 'Rosa 2', exact: true }).click()
  await page.locator('#plant-name:enabled').waitFor()
  assert.deepEqual(await focused(page), { name: 'Name', fault: '' })
  assert.deepEqual(await stopsOf(page), ['Tag', 'Save', 'Cancel', 'Delete'])
  await page.close()
})

test('Escape closes each dialog and returns the focus to the button that opened it', { skip }, async () => {
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
