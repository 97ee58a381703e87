import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { chromiumMissing as skip } from '../support/browser/chromium.ts'
import { eventually } from '../support/eventually.ts'
import { importLines, openSignedIn } from './open-page.ts'
import { startSite } from './start-site.ts'

const LONG = '🌱'.repeat(200)
const PLANTS = [
  { id: 1, name: 'Quercus robur', tag: 'tree' },
  { id: 2, name: '   ', tag: '\u202e ' },
  { id: 3, name: `x${LONG}`, tag: `x${LONG}` },
]

const site = startSite((app) =>
  importLines(
    app,
    PLANTS.map((plant) => JSON.stringify(plant)),
  ),
)

const shown = (page: Page, part: string) => page.locator(`.row .${part}`).allTextContents()
const chosenTag = (page: Page) =>
  page.evaluate(`document.getElementById('tag-filter').selectedOptions[0].textContent`)

test('an invisible name and an invisible tag are shown as empty', { skip }, async () => {
  const { page } = await openSignedIn(site.browser, site.app)
  await eventually(async () => (await shown(page, 'name'))[1] === '(no name)')
  assert.equal((await shown(page, 'tag'))[1], '(empty tag)')
  await page.close()
})

test('a long text is truncated between characters', { skip }, async () => {
  const { page } = await openSignedIn(site.browser, site.app)
  await eventually(async () => (await shown(page, 'name'))[2] === `x${'🌱'.repeat(149)}…`)
  const choices = await page.getByLabel('Tag', { exact: true }).locator('option').allTextContents()
  assert.ok(choices.includes(`x${'🌱'.repeat(29)}… (1)`), String(choices))
  await page.close()
})

test('an unused tag from a link is listed in the filter, even an empty or a long one', {
  skip,
}, async () => {
  for (const [tag, shown] of [
    ['', '(empty tag)'],
    ['y'.repeat(5_000), `${'y'.repeat(60)}…`],
  ] as const) {
    const { page } = await openSignedIn(site.browser, site.app, { path: `/?tag=${tag}` })
    await page.getByText('No plants match.').waitFor()
    assert.equal(await chosenTag(page), shown)
    await page.close()
  }
})

test('spaces alone are no search', { skip }, async () => {
  const { page, requests } = await openSignedIn(site.browser, site.app, { path: '/?q=%20%20' })
  await page.getByText('3 plants', { exact: true }).waitFor()
  await page.getByLabel('Search names').fill('   ')
  await page.getByLabel('Search names').fill('  quercus ')
  await page.getByText('1 plant', { exact: true }).waitFor()
  assert.equal(new URL(page.url()).searchParams.get('q'), 'quercus')
  assert.equal(await page.getByLabel('Search names').inputValue(), '  quercus ')
  const asked = requests
    .filter((url) => url.includes('/plants?'))
    .map((url) => new URL(url).searchParams.get('q'))
  assert.deepEqual([...new Set(asked)], [null, 'quercus'])
  await page.close()
})
