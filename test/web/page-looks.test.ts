import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { chromiumMissing as skip } from '../support/chromium.ts'
import { assertAccessible, PICTURES, settle } from './assert-accessible.ts'
import { importLines, openPage, openSignedIn, signIn } from './open-page.ts'
import { startSite } from './start-site.ts'

const WIDTHS = [375, 768, 1440]
const ODD_NAMES = [
  'Medicago ×varia',
  '"Quercus robur", <b>fastigiate</b> & \'Concordia\'',
  'ورد جوري شامي',
  'x'.repeat(500),
  '🌵🌲🌱 cactus',
  '<img src=x onerror="document.title=\'broken\'">',
]

const site = startSite(async (app) => {
  mkdirSync(PICTURES, { recursive: true })
  const tags = [
    'tree',
    'shrub',
    'herb',
    'palm',
    'fern',
    'ورد',
    'a-tag-that-is-longer-than-it-should-be-by-far',
  ]
  const odd = ODD_NAMES.map((name, at) => ({ id: at + 1, name, tag: tags[at] }))
  const plain = Array.from({ length: 900 }, (_, at) => ({
    id: 100 + at * 3,
    name: `Rosa canina ${at}`,
    ...(at % 5 !== 0 && { tag: tags[(at * at) % tags.length] }),
  }))
  await importLines(
    app,
    [...odd, ...plain].map((plant) => JSON.stringify(plant)),
  )
  await app.send('PUT', '/plants/9223372036854775807', '{"name":"The last one","tag":"tree"}')
  await app.send(
    'POST',
    '/tokens',
    '{"label":"the greenhouse tablet","scopes":["plants:read","plants:write"]}',
  )
})

/** Each view, and how one gets there. */
const VIEWS: Record<string, (page: Page) => Promise<void>> = {
  shelf: async (page) => page.locator('.row').nth(5).waitFor(),
  add: async (page) => {
    await page.getByRole('button', { name: 'Add a plant' }).click()
    await page.getByRole('button', { name: 'Add it' }).click()
    await page.getByText('Give the plant a name.').waitFor()
  },
  change: async (page) => {
    await page.getByRole('button', { name: 'Medicago ×varia' }).click()
    await page.locator('#plant-name:enabled').waitFor()
  },
  taken: async (page) => {
    await page.getByRole('button', { name: 'Add a plant' }).click()
    await page.getByLabel('Id', { exact: true }).fill('4')
    await page.getByLabel('Name', { exact: true }).fill('Another plant')
    await page.getByRole('button', { name: 'Add it' }).click()
    await page.getByText('The id 4 is taken').waitFor()
  },
  export: async (page) => {
    await page.getByRole('button', { name: 'Export' }).click()
    await page.getByText('All plants are saved').waitFor()
  },
  nothing: async (page) => {
    await page.getByLabel('Search names').fill('nothing-like-it')
    await page.getByText('No plant matches.').waitFor()
  },
  collection: async (page) => {
    await page.getByRole('link', { name: 'Collection' }).click()
    await page.locator('.timeline').waitFor()
    await page.locator('.bars tbody tr').nth(2).waitFor()
  },
  tokens: async (page) => {
    await page.getByRole('link', { name: 'Tokens' }).click()
    await page.getByText('the greenhouse tablet').first().waitFor()
  },
  'new-token': async (page) => {
    await page.getByRole('link', { name: 'Tokens' }).click()
    await page.getByRole('button', { name: 'Make a token' }).click()
  },
}

for (const scheme of ['light', 'dark'] as const) {
  test(`no view has a fault that axe finds, in ${scheme}`, { skip }, async () => {
    const entrance = await openPage(site.browser, site.app, { scheme })
    await signIn(entrance.page, 'wrong')
    await entrance.page.getByText('does not know this token').waitFor()
    await assertAccessible(entrance.page, 'sign-in')
    await entrance.page.close()
    for (const [name, arrive] of Object.entries(VIEWS)) {
      const { page } = await openSignedIn(site.browser, site.app, { scheme })
      await arrive(page)
      await assertAccessible(page, name)
      await page.close()
    }
  })
}

for (const width of WIDTHS) {
  test(`every view fits ${width} pixels, odd names and all`, { skip }, async () => {
    const scheme = width === 768 ? 'dark' : 'light'
    const entrance = await openPage(site.browser, site.app, { width, scheme })
    await entrance.page.getByText('· SQLite · ready').waitFor()
    await entrance.page.screenshot({ path: `${PICTURES}sign-in-${width}.png` })
    await entrance.page.close()
    for (const [name, arrive] of Object.entries(VIEWS)) {
      const { page, faults } = await openSignedIn(site.browser, site.app, { width, scheme })
      await arrive(page)
      await settle(page)
      await page.screenshot({ path: `${PICTURES}${name}-${width}.png` })
      const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
      assert.ok(Number(overflow) <= 0, `${name}: ${overflow} px too wide`)
      const refused = name === 'taken' ? 1 : 0
      assert.equal(faults.filter((fault) => !fault.includes('400 (Bad Request)')).length, 0, faults.join())
      assert.ok(faults.length <= refused, faults.join())
      await page.close()
    }
  })
}

test('a name is text, whatever is in it', { skip }, async () => {
  const { page } = await openSignedIn(site.browser, site.app)
  await VIEWS.shelf?.(page)
  for (const name of ODD_NAMES) {
    const shown = name.length > 300 ? `${name.slice(0, 300)}…` : name
    assert.equal(await page.getByRole('button', { name: shown, exact: true }).count(), 1, name.slice(0, 60))
  }
  assert.equal(await page.title(), 'Shelf · Plant Store')
  await page.close()
})
