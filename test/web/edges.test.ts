import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { chromiumMissing as skip } from '../support/browser/chromium.ts'
import { eventually } from '../support/eventually.ts'
import { findFreePort } from '../support/free-port.ts'
import { startApp } from '../support/http/start-app.ts'
import { idsShown, importLines, openBrowser, openSignedIn } from './open-page.ts'
import { startSite } from './start-site.ts'

const ENDS = ['-9223372036854775808', '9223372036854775807']
/** The page retries some seconds after a failure. A busy machine is slower. */
const BACK_WITHIN_MS = 20_000

const site = startSite((app) => importLines(app, ['{"id":1,"name":"Between"}']))

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

for (const id of ENDS) {
  test(`the plant ${id} is added, found, edited, deleted and restored exactly`, { skip }, async () => {
    const { page, faults } = await openSignedIn(site.browser, site.app)
    const stored = async () => (await site.app.fetch(`/plants/${id}`)).text()
    await button(page, 'Add a plant').click()
    await page.getByLabel('Id', { exact: true }).fill(id)
    await page.getByLabel('Name', { exact: true }).fill(`Edge ${id}`)
    await button(page, 'Add').click()
    await page.getByText(`Added: Edge ${id}`).waitFor()
    assert.ok((await stored()).startsWith(`{"id":${id},"name":"Edge ${id}"`))
    // Both the URL of the list and a shared URL lead to the plant.
    await page.goto(`${site.app.url}/?at=${id}`)
    await eventually(async () => (await idsShown(page)).includes(id))
    await button(page, `Edge ${id}`).click()
    await page.locator('#plant-name:enabled').fill(`Changed ${id}`)
    await page.getByText(`Id ${id}`, { exact: true }).waitFor()
    await button(page, 'Save').click()
    await page.getByText(`Saved: Changed ${id}`).waitFor()
    assert.ok((await stored()).startsWith(`{"id":${id},"name":"Changed ${id}"`))
    await button(page, `Changed ${id}`).click()
    await page.locator('#plant-name:enabled').waitFor()
    await button(page, 'Delete').click()
    await page.getByText(`Deleted: Changed ${id}`).waitFor()
    assert.ok(!(await idsShown(page)).includes(id))
    await button(page, 'Undo').click()
    await page.getByText(`Restored: Changed ${id}`).waitFor()
    assert.ok((await stored()).startsWith(`{"id":${id},"name":"Changed ${id}"`))
    await eventually(async () => (await idsShown(page)).includes(id))
    assert.equal(new URL(page.url()).searchParams.get('at') ?? id, id)
    assert.deepEqual(faults, [])
    await page.context().close()
  })
}

test('an edit that failed while the service was down can be saved when it is up again', {
  skip,
}, async (context) => {
  const settings = { PLANTSTORE_PORT: String(await findFreePort()) }
  const first = await startApp(context, settings)
  await importLines(first, ['{"id":7,"name":"Plant 7"}'])
  const { page } = await openSignedIn(await openBrowser(context), first)
  await button(page, 'Plant 7').click()
  await page.locator('#plant-name:enabled').fill('Another name')
  await first.stop()
  await button(page, 'Save').click()
  await page.getByRole('dialog').getByText("Can't reach the server.").waitFor({ timeout: BACK_WITHIN_MS })
  assert.equal(await page.locator('#plant-name').inputValue(), 'Another name')
  const second = await startApp(context, { ...settings, PLANTSTORE_DATABASE: first.database })
  await button(page, 'Save').click()
  await page.getByText('Saved: Another name').waitFor({ timeout: BACK_WITHIN_MS })
  assert.match(await (await second.fetch('/plants/7')).text(), /"name":"Another name"/)
})

test('a rate limit slows the list down, but no plant is lost', { skip }, async (context) => {
  const app = await startApp(context, { PLANTSTORE_RATE_LIMIT_PLANTS_READ: '2' })
  await importLines(
    app,
    Array.from({ length: 2_000 }, (_, at) => `{"id":${at},"name":"Plant ${at}"}`),
  )
  const { page } = await openSignedIn(await openBrowser(context), app)
  let rejected = 0
  page.on('response', (response) => {
    if (response.status() === 429) rejected += 1
  })
  await eventually(async () => {
    await page.locator('.scroller').evaluate((list) => list.scrollTo(0, list.scrollHeight))
    return (await idsShown(page)).at(-1) === '1999'
  }, BACK_WITHIN_MS)
  await page.getByText('2,000 plants', { exact: true }).waitFor()
  assert.ok(rejected > 0)
})

test('a request to a service that is not ready is retried after its Retry-After', { skip }, async () => {
  const { page } = await openSignedIn(site.browser, site.app)
  await button(page, 'Between').waitFor()
  const times: number[] = []
  await page.route(/\/plants\?.*q=/, (route) => {
    times.push(performance.now())
    return times.length > 1
      ? route.continue()
      : route.fulfill({
          status: 503,
          headers: { 'retry-after': '1' },
          json: { error: 50301, message: 'The service has too much to do.' },
        })
  })
  await page.getByLabel('Search names').fill('between')
  await page.waitForResponse((response) => response.url().includes('q=') && response.status() === 200)
  await button(page, 'Between').waitFor()
  assert.ok((times[1] ?? 0) - (times[0] ?? 0) >= 950, times.join())
  await page.context().close()
})
