import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { chromiumMissing as skip } from '../support/browser/chromium.ts'
import { settle } from './assert-accessible.ts'
import { layoutFaults } from './layout-faults.ts'
import { takeLayoutShifts, watchLayoutShifts } from './layout-shifts.ts'
import { openPage, signIn } from './open-page.ts'
import { startSite } from './start-site.ts'
import { DEEPER_VIEWS, storeShownThings, VIEWS } from './views.ts'

const SIZES = {
  'a narrow phone': { width: 360, height: 740 },
  // A screen of 1280 by 800 device pixels.
  'a zoom of 200 %': { width: 640, height: 400, pixelRatio: 2 },
  'text of 200 %': { width: 1280, height: 800, textPercent: 200 },
  'text of 200 % on a phone': { width: 360, height: 740, textPercent: 200 },
}

const site = startSite(storeShownThings)

for (const [size, options] of Object.entries(SIZES)) {
  test(`nothing is clipped or scrolls sideways, with ${size}`, { skip }, async () => {
    const { page } = await openPage(site.browser, site.app, options)
    await signIn(page, 'wrong')
    await page.getByText('token is not valid').waitFor()
    const faults = (await layoutFaults(page)).map((fault) => `sign-in: ${fault}`)
    await signIn(page)
    await VIEWS.plants?.(page)
    for (const [name, arrive] of Object.entries({ ...VIEWS, ...DEEPER_VIEWS })) {
      await page.goto(site.app.url)
      await VIEWS.plants?.(page)
      await arrive(page)
      await settle(page)
      for (const fault of await layoutFaults(page)) faults.push(`${name}: ${fault}`)
      await page.unrouteAll({ behavior: 'ignoreErrors' })
    }
    await page.context().close()
    assert.deepEqual(faults, [])
  })
}

const SHIFT_MAX = 0.01
const RESPONSE_DELAY_MS = 150

/** The actions, in order. */
const EVENTS: Record<string, (page: Page) => Promise<unknown>> = {
  load: (page) => page.getByText('· SQLite · ready').waitFor(),
  'a wrong token': async (page) => {
    await signIn(page, 'wrong')
    await page.getByText('token is not valid').waitFor()
  },
  'signing in, and rows': async (page) => {
    await signIn(page)
    await page.locator('.row .id').nth(5).waitFor()
    await page.getByText('907 plants', { exact: true }).waitFor()
  },
  'a filter': async (page) => {
    await page.getByLabel('Tag', { exact: true }).selectOption('=tree')
    await page.waitForURL(/tag=tree/)
    await page.getByText(/^\d+ plants$/).waitFor()
  },
  'another filter': async (page) => {
    await page.getByLabel('Tag', { exact: true }).selectOption('')
    await page.getByText('907 plants', { exact: true }).waitFor()
  },
  'words that nothing has, and some that something has': async (page) => {
    await page.getByLabel('Search names').fill('nothing-like-it')
    await page.getByText('No plants match.').waitFor()
    await page.getByLabel('Search names').fill('rosa')
    await page.getByText('900 plants', { exact: true }).waitFor()
  },
  'a notice': async (page) => {
    await page.getByLabel('Go to id').fill('100')
    await page.keyboard.press('Enter')
    await page.getByText('At id 100.').waitFor()
  },
  'a failure, and its end': async (page) => {
    await page.route(/\/plants\?/, (route) => route.abort())
    await page.locator('.scroller').evaluate((list) => list.scrollTo(0, list.scrollHeight))
    await page.locator('.banner').waitFor()
    await page.unroute(/\/plants\?/)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.locator('.banner').waitFor({ state: 'detached' })
  },
  'the pictures': async (page) => {
    await VIEWS.collection?.(page)
  },
  tokens: async (page) => {
    await VIEWS.tokens?.(page)
  },
  'a list of tokens that fails': async (page) => {
    await page.getByRole('button', { name: 'Revoke the greenhouse tablet' }).click()
    await page.route(/\/tokens$/, (route) => route.abort())
    await page.getByRole('button', { name: 'Keep it' }).click()
    await page.locator('.banner').waitFor()
  },
}

for (const width of [360, 1280]) {
  test(`nothing moves by itself on a page of ${width} pixels`, { skip }, async () => {
    const { page } = await openPage(site.browser, site.app, { width })
    await watchLayoutShifts(page)
    // Responses arrive one by one, after the page shows that it waits for them.
    await page.route(/\/(?:plants\?|tags|tokens|additions)/, async (route) => {
      await new Promise((resolve) => setTimeout(resolve, RESPONSE_DELAY_MS))
      await route.continue()
    })
    for (const [name, happen] of Object.entries(EVENTS)) {
      await happen(page)
      await settle(page)
      const { score, moved } = await takeLayoutShifts(page)
      assert.ok(score < SHIFT_MAX, `${name}: ${score}, ${moved}`)
    }
    await page.context().close()
  })
}
