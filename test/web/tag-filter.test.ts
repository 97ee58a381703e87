import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chromiumMissing as skip } from '../support/browser/chromium.ts'
import { assertAccessible } from './assert-accessible.ts'
import { layoutFaults } from './layout-faults.ts'
import { importLines, openSignedIn } from './open-page.ts'
import { startSite } from './start-site.ts'

/** The number of tags that the filter lists. */
const LISTED = 1_000

const site = startSite((app) =>
  importLines(app, [
    ...Array.from({ length: 2 * LISTED }, (_, at) => `{"id":${at},"name":"Rosa","tag":"tag ${at % LISTED}"}`),
    '{"id":9000,"name":"Wollemia nobilis","tag":"= rare & odd"}',
    '{"id":9001,"name":"Of an empty tag","tag":""}',
    '{"id":9002,"name":"Of no tag"}',
  ]),
)

test('a tag that is not listed can be typed, with the keyboard alone', {
  skip,
}, async () => {
  const { page } = await openSignedIn(site.browser, site.app, { width: 375 })
  const filter = page.getByLabel('Tag', { exact: true })
  const dialog = page.getByRole('dialog', { name: 'Another tag' })
  await filter.getByText('tag 7 (2)', { exact: true }).waitFor({ state: 'attached' })
  assert.equal(await filter.getByText('rare').count(), 0)
  assert.equal(await filter.locator('optgroup').getAttribute('label'), '1,000 most used tags')
  await filter.focus()
  await page.keyboard.press('End')
  await dialog.getByText('The list shows the 1,000 most used tags.').waitFor()
  await assertAccessible(page, 'another tag')
  assert.deepEqual(await layoutFaults(page), [])
  // Closing the dialog chooses nothing.
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  assert.equal(await filter.inputValue(), '')
  assert.ok(await page.locator('#tag-filter:focus').isVisible())
  await page.keyboard.press('End')
  await page.keyboard.press('Enter')
  await dialog.getByText('Type a tag, or').waitFor()
  await page.keyboard.type('= rare & odd')
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Wollemia nobilis' }).waitFor()
  await page.getByText('1 plant', { exact: true }).waitFor()
  assert.equal(new URL(page.url()).searchParams.get('tag'), '= rare & odd')
  assert.equal(await filter.inputValue(), '== rare & odd')
  assert.ok(await page.locator('#tag-filter:focus').isVisible())
  await page.goBack()
  await page.getByText('Rosa').first().waitFor()
  assert.equal(await filter.inputValue(), '')
  await page.context().close()
})

test('an incomplete list offers the empty tag, which differs from no tag', {
  skip,
}, async () => {
  const { page } = await openSignedIn(site.browser, site.app, { width: 375 })
  const filter = page.getByLabel('Tag', { exact: true })
  await filter.getByText('tag 7 (2)', { exact: true }).waitFor({ state: 'attached' })
  // The dialog says where to find it.
  await filter.selectOption({ label: 'Another tag …' })
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').getByText('Type a tag, or “(empty tag)” for the empty one.').waitFor()
  await page.keyboard.type('(empty tag)')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Of an empty tag' }).waitFor()
  await page.getByText('1 plant', { exact: true }).waitFor()
  assert.equal(new URL(page.url()).searchParams.get('tag'), '')
  assert.equal(await filter.locator('option', { hasText: '(empty tag)' }).count(), 1)
  await page.getByRole('button', { name: 'Export' }).click()
  await page.getByText('Saves all plants tagged “(empty tag)”').waitFor()
  await page.context().close()
})

test('a complete list offers no other tag', { skip }, async () => {
  const { page } = await openSignedIn(site.browser, site.app)
  await page.route(/\/tags/, (route) => route.fulfill({ json: [{ tag: 'tree', count: 2 }] }))
  await page.reload()
  const filter = page.getByLabel('Tag', { exact: true })
  await filter.getByText('tree (2)').waitFor({ state: 'attached' })
  assert.equal(await filter.getByText('Another tag').count(), 0)
  await page.context().close()
})
