import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { chromiumMissing as skip } from '../support/browser/chromium.ts'
import { eventually } from '../support/eventually.ts'
import { importLines, openPage, openSignedIn, signIn } from './open-page.ts'
import { startSite } from './start-site.ts'

const FIRST = '-9223372036854775808'
const LAST = '9223372036854775807'
const LONG_TAG = 'a-tag-that-is-longer-than-it-should-be-by-far'
const NARROWEST = { width: 360, height: 740, textPercent: 200 }
const PHONES = [NARROWEST, { ...NARROWEST, width: 375 }]
const SIZES = {
  'large text': NARROWEST,
  'a phone': { width: 360, height: 740 },
  'a wide screen': { width: 1440 },
}

const site = startSite((app) =>
  importLines(app, [
    `{"id":${FIRST},"name":"The first one","tag":"tree"}`,
    `{"id":${BigInt(FIRST) + 1n},"name":"The second one","tag":"${LONG_TAG}"}`,
    ...Array.from({ length: 60 }, (_, at) => `{"id":${at},"name":"Rosa ${at}","tag":"shrub"}`),
    `{"id":${LAST},"name":"The last one","tag":"${LONG_TAG}"}`,
  ]),
)

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

async function jump(page: Page, id: string): Promise<void> {
  await page.getByLabel('Go to id').fill(id)
  await page.keyboard.press('Enter')
  await page.getByText(new RegExp(`(At|with) id ${id}\\b`)).waitFor()
}

async function boxOf(element: Locator) {
  const box = await element.boundingBox()
  assert.ok(box, 'it is not drawn')
  return { top: box.y, bottom: box.y + box.height, left: box.x, right: box.x + box.width }
}

/** Faults of the visible notices: the expected one is missing, one is not wholly in the window, or covers the row. */
const NOTICE_FAULTS = `((id, expected) => {
  const cell = [...document.querySelectorAll('.row .id')].find((one) => one.textContent === id)
  if (cell === undefined) return 'there is no such row'
  const rowBox = cell.closest('.row').getBoundingClientRect()
  const notices = [...document.querySelectorAll('.notice')].filter((one) => one.checkVisibility())
  const faults = notices.some((one) => one.textContent.includes(expected)) ? [] : ['the notice is missing']
  if (rowBox.top < 0 || rowBox.bottom > innerHeight) faults.push('its row is out of view')
  for (const one of notices) {
    const { top, bottom, left, right } = one.getBoundingClientRect()
    const text = one.querySelector('span')
    const isOut = top < 0 || bottom > innerHeight || left < 0 || right > innerWidth
    if (isOut || text.scrollHeight > text.clientHeight + 1) faults.push('clipped: ' + text.textContent)
    if (top < rowBox.bottom && bottom > rowBox.top) faults.push('covers its row: ' + text.textContent)
  }
  return faults.join()
})`

/** Faults of the row of an id: clipped texts, a tag too narrow to read. One call, as a jump replaces the list. */
const ROW_FAULTS = `((id, isTagWhole) => {
  const cell = [...document.querySelectorAll('.row .id')].find((one) => one.textContent === id)
  if (cell === undefined) return 'there is no such row'
  const row = cell.closest('.row')
  const mark = row.querySelector('.mark')
  const isCut = (one) => one.scrollWidth > one.clientWidth
  const faults = isCut(cell) || (isTagWhole && isCut(mark)) ? [id + ' is clipped'] : []
  const line = row.getBoundingClientRect()
  const { top, bottom, width } = mark.getBoundingClientRect()
  // A third of the line is some ten characters.
  if (!isTagWhole && width <= line.width * 0.6) faults.push(id + ' leaves its tag too narrow')
  if (bottom > line.bottom) faults.push('the tag leaves the row of ' + id)
  if (top < row.querySelector('.name').getBoundingClientRect().bottom - 1) faults.push('the tag is over the name')
  return faults.join()
})`

/** Waits until the script finds no fault in the page. */
async function assertNone(page: Page, script: string): Promise<void> {
  let faults = ''
  const look = async () => {
    faults = String(await page.evaluate(script))
    return faults === ''
  }
  await eventually(look).catch(() => assert.fail(faults))
}

const assertClear = (page: Page, id: string, notice: string) =>
  assertNone(page, `${NOTICE_FAULTS}('${id}', '${notice}')`)

/** The id of the last row wholly in view: a notice will cover it. */
async function lastRowInView(page: Page): Promise<string> {
  const list = await boxOf(page.locator('.scroller'))
  const rows = await page.locator('.row').all()
  const boxes = await Promise.all(rows.map(boxOf))
  const at = boxes.findLastIndex(({ bottom }) => bottom <= list.bottom)
  return (await rows[at]?.locator('.id').textContent()) ?? assert.fail('no row is in view')
}

for (const size of PHONES) {
  test(`a tag is readable beside the longest ids, with large text on ${size.width} pixels`, {
    skip,
  }, async () => {
    const { page } = await openSignedIn(site.browser, site.app, size)
    for (const [id, isWhole] of [
      [FIRST, true],
      [String(BigInt(FIRST) + 1n), false],
      [LAST, false],
    ] as const) {
      await jump(page, id)
      await assertNone(page, `${ROW_FAULTS}('${id}', ${isWhole})`)
    }
    await page.context().close()
  })
}

test('icons scale with the text and are centred in their buttons', {
  skip,
}, async () => {
  const normal = await openPage(site.browser, site.app, { width: 360 })
  const large = await openPage(site.browser, site.app, NARROWEST)
  const sizes = async (icon: string) => {
    const boxes = await Promise.all([normal, large].map(({ page }) => boxOf(page.locator(icon).first())))
    return boxes.map(({ left, right }) => right - left)
  }
  const double = async (icon: string) => {
    const [once = 0, twice] = await sizes(icon)
    assert.equal(twice, once * 2, icon)
  }
  await double('main img')
  await Promise.all([normal, large].map(({ page }) => signIn(page)))
  await Promise.all([normal, large].map(({ page }) => page.locator('.row').first().waitFor()))
  await double('.brand img')
  await double('.plants-head .icon')
  for (const iconic of await large.page.locator('.iconic').all()) {
    const outer = await boxOf(iconic)
    const inner = await boxOf(iconic.locator('.icon'))
    assert.ok(Math.abs(inner.left + inner.right - outer.left - outer.right) <= 2)
    assert.ok(Math.abs(inner.top + inner.bottom - outer.top - outer.bottom) <= 2)
  }
  await Promise.all([normal, large].map(({ page }) => page.context().close()))
})

for (const [name, size] of Object.entries(SIZES)) {
  test(`a notice about a position in the list does not cover it, with ${name}`, { skip }, async () => {
    const { page } = await openSignedIn(site.browser, site.app, size)
    await page.locator('.row').first().waitFor()
    // Each notice is still visible when the next one appears.
    for (const [id, first] of [
      ['5', '5'],
      [LAST, LAST],
      ['-9223372036854775000', '0'],
    ] as const) {
      // As after scrolling to the field.
      await page.locator('#jump').evaluate((field) => field.scrollIntoView({ block: 'end' }))
      await jump(page, id)
      await assertClear(page, first, id)
    }
    await page.context().close()
  })

  test(`a notice about a plant does not cover its row, with ${name}`, { skip }, async () => {
    const { page } = await openSignedIn(site.browser, site.app, size)
    await page.locator('.row').first().waitFor()
    await page.locator('.scroller').evaluate((list) => list.scrollIntoView({ block: 'end' }))
    const id = await lastRowInView(page)
    const row = page.locator('.row', { has: page.getByText(id, { exact: true }) })
    await row.getByRole('button').click()
    await page.locator('#plant-name:enabled').fill(`Rosa ${id} ${'gallica '.repeat(60)}`)
    await button(page, 'Save').click()
    await page.getByText(`Saved: Rosa ${id}`).waitFor()
    await assertClear(page, id, 'Saved: Rosa')
    await page.context().close()
  })
}

test('a delete can be undone while later notices are visible, with large text', { skip }, async () => {
  const { page } = await openSignedIn(site.browser, site.app, NARROWEST)
  await button(page, 'Rosa 2').click()
  await page.locator('#plant-name:enabled').waitFor()
  await button(page, 'Delete').click()
  await page.getByText('Deleted: Rosa 2').waitFor()
  await jump(page, '5')
  await jump(page, '7')
  await button(page, 'Undo').click()
  await page.getByText('Restored: Rosa 2').waitFor()
  await page.context().close()
})
