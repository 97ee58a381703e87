import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { chromiumMissing as skip } from '../support/browser/chromium.ts'
import { eventually } from '../support/eventually.ts'
import { idsShown, importLines, openSignedIn } from './open-page.ts'
import { startSite } from './start-site.ts'

const PLANTS = 4_000
const FIRST_ID = -9_223_372_036_854_775_808n
const LAST_ID = 9_223_372_036_854_775_807n
/** Two ids that are the same JavaScript number. */
const TWINS = ['9007199254740992', '9007199254740993']
const ROWS_DRAWN_MAX = 80

const site = startSite(async (app) => {
  const many = Array.from({ length: PLANTS }, (_, at) =>
    JSON.stringify({ id: 10 + at * 7, name: `Plant ${at}`, tag: at % 100 === 0 ? 'rare' : 'common' }),
  )
  const ends = [FIRST_ID, ...TWINS, LAST_ID].map((id) => `{"id":${id},"name":"Edge ${id}","tag":"edge"}`)
  await importLines(app, [...many, ...ends])
})

const scroller = (page: Page) => page.locator('.scroller')
const scrollTo = (page: Page, top: string) =>
  scroller(page).evaluate((element, expression) => {
    const list = element as unknown as { scrollTop: number; scrollHeight: number }
    list.scrollTop = expression === 'end' ? list.scrollHeight : Number(expression)
  }, top)
const seen = (page: Page, id: string | bigint) =>
  eventually(async () => (await idsShown(page)).includes(String(id)))

/** The id of the first row in view. */
function firstInView(page: Page): Promise<string> {
  return page.evaluate(`(() => {
    const list = document.querySelector('.scroller')
    const { top = 0, left = 0 } = list ? list.getBoundingClientRect() : {}
    return document.elementFromPoint(left + 20, top + 10)?.closest('.row')?.querySelector('.id')?.textContent ?? ''
  })()`)
}

test('scrolling reaches every plant, and only rows near the view are in the document', {
  skip,
}, async () => {
  const { page, faults } = await openSignedIn(site.browser, site.app)
  await seen(page, FIRST_ID)
  await eventually(async () => {
    await scrollTo(page, 'end')
    assert.ok((await page.locator('.row').count()) < ROWS_DRAWN_MAX)
    return (await idsShown(page)).at(-1) === String(LAST_ID)
  }, 10_000)
  await page.getByText(`${(PLANTS + 4).toLocaleString('en')} plants`, { exact: true }).waitFor()
  const ids = (await idsShown(page)).map(BigInt)
  assert.deepEqual(ids.slice(-3).map(String), [...TWINS, String(LAST_ID)])
  await scrollTo(page, '0')
  await seen(page, FIRST_ID)
  await seen(page, 10n)
  assert.deepEqual(faults, [])
  await page.close()
})

test('plants dropped far from the view are fetched again on the way back', { skip }, async () => {
  const { page, requests } = await openSignedIn(site.browser, site.app)
  await seen(page, 10n)
  await eventually(async () => {
    await scrollTo(page, 'end')
    return (await idsShown(page)).at(-1) === String(LAST_ID)
  }, 10_000)
  const before = requests.filter((url) => url.includes('/plants?')).length
  await scrollTo(page, '0')
  await seen(page, FIRST_ID)
  assert.ok(requests.filter((url) => url.includes('/plants?')).length > before)
  await page.close()
})

test('a jump leads to the exact id, and the list scrolls up from there', { skip }, async () => {
  const { page } = await openSignedIn(site.browser, site.app)
  for (const id of [String(LAST_ID), String(FIRST_ID), ...TWINS, '10020']) {
    await page.getByLabel('Go to id').fill(id)
    await page.getByRole('button', { name: 'Go' }).click()
    await seen(page, id)
    await page.getByText(`At id ${id}.`).waitFor()
  }
  await eventually(async () => (await firstInView(page)) === '10020')
  // The row before it is on the previous page, which has to be searched for.
  await eventually(async () => {
    await scroller(page).hover()
    await page.mouse.wheel(0, -200)
    return (await idsShown(page)).includes('10013')
  })
  await page.getByLabel('Go to id').fill('9223372036854775808')
  await page.getByRole('button', { name: 'Go' }).click()
  await page.getByText('Enter a whole number').waitFor()
  await page.getByLabel('Go to id').fill('12')
  await page.getByRole('button', { name: 'Go' }).click()
  await page.getByText('There is no plant with id 12. The list shows the plants around it.').waitFor()
  await seen(page, '17')
  await page.close()
})

test('search follows typing with one request, and a late response changes nothing', {
  skip,
}, async () => {
  const { page, requests } = await openSignedIn(site.browser, site.app)
  await seen(page, FIRST_ID)
  // The response to the first words is delayed past that to the next words.
  await page.route(/q=edge(?:&|$)/, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 800))
    await route.continue().catch(() => undefined)
  })
  const isAsked = page.waitForRequest(/q=edge/)
  // Key by key, without pauses.
  await page.evaluate(`for (const typed of ['e', 'ed', 'edg', 'edge']) {
    const field = document.getElementById('search')
    field.value = typed
    field.dispatchEvent(new Event('input', { bubbles: true }))
  }`)
  await isAsked
  const cancelled = page.waitForEvent('requestfailed')
  await page.getByLabel('Search names').fill('edge 9223372036854775807')
  assert.match((await cancelled).url(), /q=edge(?:&|$)/)
  await page.getByText('1 plant', { exact: true }).waitFor()
  assert.deepEqual(await idsShown(page), [String(LAST_ID)])
  const asked = requests.filter((url) => /\/plants\?.*q=/.test(url))
  assert.equal(asked.length, 2, asked.join())
  await page.close()
})

test('filter, search and position are in the URL: Back, a reload and a link restore them', {
  skip,
}, async () => {
  const { page } = await openSignedIn(site.browser, site.app)
  await seen(page, FIRST_ID)
  await page.getByLabel('Tag', { exact: true }).selectOption({ label: 'rare (40)' })
  await page.getByText('40 plants', { exact: true }).waitFor()
  assert.equal(new URL(page.url()).searchParams.get('tag'), 'rare')
  await page.getByLabel('Search names').fill('plant 1')
  await page.getByText('11 plants', { exact: true }).waitFor()
  const link = page.url()
  await page.goBack()
  await page.getByText('40 plants', { exact: true }).waitFor()
  assert.equal(await page.getByLabel('Search names').inputValue(), '')
  await page.goBack()
  await seen(page, FIRST_ID)
  const other = await openSignedIn(site.browser, site.app, { path: link.slice(site.app.url.length) })
  await other.page.getByText('11 plants', { exact: true }).waitFor()
  assert.equal(await other.page.getByLabel('Search names').inputValue(), 'plant 1')
  await other.page.close()
  // The scroll position of the list.
  await scrollTo(page, '20000')
  await page.waitForURL(/at=\d+/)
  const at = new URL(page.url()).searchParams.get('at')
  await page.reload()
  await eventually(async () => (await firstInView(page)) === at)
  await page.close()
})

test('a throttled request is retried', { skip }, async () => {
  const { page } = await openSignedIn(site.browser, site.app)
  await seen(page, FIRST_ID)
  let rejected = 0
  await page.route(/q=rare/, async (route) => {
    rejected += 1
    if (rejected > 1) return route.continue()
    return route.fulfill({
      status: 429,
      headers: { 'retry-after': '0' },
      contentType: 'application/json',
      body: '{"error":42901,"message":"Too many requests."}',
    })
  })
  await page.getByLabel('Search names').fill('rare')
  await page.getByText('No plants match.').waitFor()
  assert.equal(rejected, 2)
  await page.getByRole('button', { name: 'Show all plants' }).click()
  await seen(page, FIRST_ID)
  await page.close()
})

test('the arrow keys move from plant to plant, and Escape returns to the opened one', { skip }, async () => {
  const { page } = await openSignedIn(site.browser, site.app)
  await seen(page, FIRST_ID)
  await page.locator('.row button').first().focus()
  for (let step = 0; step < 30; step++) await page.keyboard.press('ArrowDown')
  const isFocused = async (name: string) =>
    (await page.evaluate('document.activeElement.textContent')) === name
  await eventually(() => isFocused('Plant 29'))
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await eventually(() => isFocused('Plant 29'))
  await page.close()
})
