import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { chromiumMissing as skip } from '../support/browser/chromium.ts'
import { eventually } from '../support/eventually.ts'
import { DAY_MS, startWithPlantsAddedAt } from './added-plants.ts'
import { openBrowser, openSignedIn } from './open-page.ts'

const PATH = '/?view=collection'

let browser: Browser
const ends: (() => void | Promise<void>)[] = []

before(async () => {
  if (!skip) browser = await openBrowser({ after: (end) => ends.push(end) })
})

after(async () => {
  for (const end of ends.reverse()) await end()
})

/** The height of each bar in pixels, from the first period to the last; 0 for an empty period. */
async function barHeights(page: Page): Promise<number[]> {
  return page.locator('.columns > span').evaluateAll((columns) =>
    columns.map((column) => {
      const bar = (column as unknown as { firstElementChild: { offsetHeight: number } | null })
        .firstElementChild
      return bar?.offsetHeight ?? 0
    }),
  )
}

test('bars show when plants were added, to scale, and a table has their numbers', { skip }, async (t) => {
  // Noon, so that the day does not change.
  const todayMs = Math.floor(Date.now() / DAY_MS) * DAY_MS + DAY_MS / 2
  const times = [9, 9, 9, 9, 7, 0, 0].map((daysAgo) => todayMs - daysAgo * DAY_MS)
  const app = await startWithPlantsAddedAt(t, times)
  const { page, faults } = await openSignedIn(browser, app, { path: PATH })
  await page.getByText(/^Counted .*2\d\d\d/).waitFor()
  await page.getByText('7 plants, per day').waitFor()
  const heights = await barHeights(page)
  const unit = (heights[0] ?? 0) / 4
  assert.ok(unit > 20, heights.join())
  const counts = heights.map((height) => Math.round(height / unit))
  // Midnight may come while the test runs.
  assert.deepEqual(counts.slice(0, 10), [4, 0, 1, 0, 0, 0, 0, 0, 0, 2])

  await page.getByText('Numbers').click()
  const rows = await page.locator('.additions tbody tr').allTextContents()
  const day = (daysAgo: number) =>
    new Intl.DateTimeFormat('en-US', { dateStyle: 'full', timeZone: 'UTC' }).format(
      todayMs - daysAgo * DAY_MS,
    )
  assert.deepEqual(rows, [`${day(9)}4`, `${day(7)}1`, `${day(0)}2`])

  await page.locator('.columns').hover({ position: { x: 2, y: 10 } })
  await page.getByText(`${day(9)}: 4 plants`).waitFor()
  await page.mouse.move(0, 0)
  await page.getByText('7 plants, per day').waitFor()
  assert.deepEqual(faults, [])
})

test('the arrow keys move from bar to bar, each is announced, and Tab stops once', { skip }, async (t) => {
  const month = Date.UTC(2020, 4, 15)
  const app = await startWithPlantsAddedAt(t, [month, month, Date.UTC(2022, 0, 1)])
  const { page } = await openSignedIn(browser, app, { path: PATH, width: 360 })
  const bars = page.getByRole('slider', { name: 'Choose a bar' })
  await bars.focus()
  const isTold = async (text: string) => {
    await eventually(async () => (await bars.getAttribute('aria-valuetext')) === text)
    assert.equal(await page.locator('.bar-text').textContent(), text)
  }
  await page.keyboard.press('Home')
  await isTold('2020: 2 plants')
  await page.keyboard.press('ArrowRight')
  await isTold('2021: none')
  await page.keyboard.press('ArrowRight')
  await isTold('2022: 1 plant')
  await page.keyboard.press('Tab')
  assert.equal(await page.evaluate('document.activeElement.localName'), 'summary')
  await page.getByText('3 plants, per year').waitFor()
})

test('dates are written in the language of the browser', { skip }, async (t) => {
  const app = await startWithPlantsAddedAt(t, [Date.now() - 800 * DAY_MS])
  const { page } = await openSignedIn(browser, app, { path: PATH, locale: 'de-DE' })
  await page.locator('.dates span').first().waitFor()
  const labels = await page.locator('.dates span').allTextContents()
  assert.ok(
    labels.some((label) => /^Juli? 20\d\d$/.test(label)),
    labels.join(),
  )
  await page.locator('.columns').hover({ position: { x: 2, y: 10 } })
  const text = await page.locator('.bar-text').textContent()
  assert.match(
    text ?? '',
    /^(Januar|Februar|März|April|Mai|Juni|Juli|August|September|\w+ber) 20\d\d: 1 plant$/,
  )
})

test('without plants there is a text in place of the bars', { skip }, async (t) => {
  const app = await startWithPlantsAddedAt(t, [])
  const { page } = await openSignedIn(browser, app, { path: PATH })
  await page.getByText('No plants yet.').waitFor()
  assert.equal(await page.locator('.timeline').count(), 0)
})

test('nothing moves when the bars appear, at any width', { skip }, async (t) => {
  const app = await startWithPlantsAddedAt(t, [Date.now(), Date.now() - 500 * DAY_MS])
  for (const width of [360, 768, 1440]) {
    const { page } = await openSignedIn(browser, app, { width })
    let go = () => {}
    const isToGo = new Promise<void>((resolve) => {
      go = resolve
    })
    await page.route('**/additions', async (route) => {
      await isToGo
      await route.continue()
    })
    await page.getByRole('link', { name: 'Collection' }).click()
    await page.getByText('Counting …').waitFor()
    const titleTop = () => page.getByRole('heading', { name: 'By tag' }).boundingBox()
    const before = await titleTop()
    go()
    await page.locator('.timeline').waitFor()
    assert.deepEqual(await titleTop(), before, `${width} px`)
    await page.close()
  }
})

test('a failed count is reported, and retried', { skip }, async (t) => {
  const app = await startWithPlantsAddedAt(t, [Date.now()])
  const { page } = await openSignedIn(browser, app)
  await page.route('**/additions', (route) =>
    route.fulfill({
      status: 500,
      contentType: 'application/json',
      body: '{"error":50001,"message":"Broken."}',
    }),
  )
  await page.getByRole('link', { name: 'Collection' }).click()
  await page.getByRole('alert').getByText(/./).first().waitFor()
  await page.unroute('**/additions')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('1 plant, per day').waitFor()
  assert.equal(await page.getByRole('alert').count(), 0)
})

test('the bars are visible in forced colours', { skip }, async (t) => {
  const app = await startWithPlantsAddedAt(t, [Date.now()])
  await app.send('PUT', '/plants/7', '{"name":"Quercus robur","tag":"tree"}')
  const { page } = await openSignedIn(browser, app)
  await page.getByRole('link', { name: 'Collection' }).click()
  await page.emulateMedia({ forcedColors: 'active' })
  const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor')
  for (const bar of ['.columns i', '.bars .bar span']) {
    await page.locator(bar).first().waitFor()
    const own = await page.evaluate(`getComputedStyle(document.querySelector('${bar}')).backgroundColor`)
    assert.notEqual(own, ground)
  }
  await page.close()
})
