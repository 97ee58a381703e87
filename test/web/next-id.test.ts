import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { chromiumMissing as skip } from '../support/browser/chromium.ts'
import { eventually } from '../support/eventually.ts'
import { openSignedIn } from './open-page.ts'
import { startSite } from './start-site.ts'

const site = startSite((app) => app.send('PUT', '/plants/41', '{"name":"Rosa","tag":"shrub"}'))

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const idField = (page: Page) => page.getByLabel('Id', { exact: true })
const nameField = (page: Page) => page.getByLabel('Name', { exact: true })

async function stored(id: string): Promise<string> {
  return (await site.app.fetch(`/plants/${id}`)).text()
}

async function nextId(): Promise<string> {
  return String(((await (await site.app.fetch('/next-id')).json()) as { id: number }).id)
}

test('the dialog makes one request for a free id', { skip }, async () => {
  const { page, requests } = await openSignedIn(site.browser, site.app)
  await button(page, 'Rosa').waitFor()
  const before = requests.length
  const next = await nextId()
  await button(page, 'Add a plant').click()
  await eventually(async () => (await idField(page).inputValue()) === next)
  assert.deepEqual(requests.slice(before), [`${site.app.url}/next-id`])
  await page.context().close()
})

test('a plant is added before its id was suggested', { skip }, async () => {
  const { page } = await openSignedIn(site.browser, site.app)
  let isFirst = true
  await page.route(/\/next-id$/, (route) => {
    const isHeld = isFirst
    isFirst = false
    return isHeld ? new Promise(() => undefined) : route.continue()
  })
  const next = await nextId()
  await button(page, 'Add a plant').click()
  await nameField(page).fill('Ulmus glabra')
  await button(page, 'Add').click()
  await page.getByText('Added: Ulmus glabra').waitFor()
  assert.match(await stored(next), /"name":"Ulmus glabra"/)
  await page.context().close()
})

test('without a connection the dialog says so, and adds the plant when it is back', { skip }, async () => {
  const { page } = await openSignedIn(site.browser, site.app)
  await button(page, 'Rosa').waitFor()
  await page.context().setOffline(true)
  await button(page, 'Add a plant').click()
  await nameField(page).fill('Alnus incana')
  await button(page, 'Add').click()
  const message = page.getByRole('dialog').getByText("Can't reach the server. Check your connection.")
  await message.waitFor({ timeout: 20_000 })
  assert.equal(await nameField(page).inputValue(), 'Alnus incana')
  await page.context().setOffline(false)
  const next = await nextId()
  await button(page, 'Add').click()
  await page.getByText('Added: Alnus incana').waitFor()
  assert.match(await stored(next), /"name":"Alnus incana"/)
  await page.context().close()
})

test('a suggested id that someone else used first is replaced by the next one', { skip }, async () => {
  const { page } = await openSignedIn(site.browser, site.app)
  const next = await nextId()
  await button(page, 'Add a plant').click()
  await eventually(async () => (await idField(page).inputValue()) === next)
  await site.app.send('PUT', `/plants/${next}`, '{"name":"Faster"}')
  await nameField(page).fill('Salix alba')
  await button(page, 'Add').click()
  await page.getByText('Added: Salix alba').waitFor()
  assert.match(await stored(next), /"name":"Faster"/)
  assert.match(await stored(String(BigInt(next) + 1n)), /"name":"Salix alba"/)
  await page.context().close()
})

test('an add with a suggested id whose response is lost adds the plant once', { skip }, async () => {
  const { page } = await openSignedIn(site.browser, site.app)
  const next = await nextId()
  await button(page, 'Add a plant').click()
  await nameField(page).fill('Larix decidua')
  let isLost = true
  await page.route(/\/plants$/, async (route) => {
    if (!isLost) return route.continue()
    await route.fetch()
    return route.abort()
  })
  await button(page, 'Add').click()
  await page.getByText('Your change may or may not have been saved.').waitFor({ timeout: 20_000 })
  isLost = false
  // Edited meanwhile, it is another request: the user chooses.
  await nameField(page).fill('Larix kaempferi')
  await button(page, 'Add').click()
  await page.getByText(`Id ${next} is already used. Which plant should have it?`).waitFor()
  await button(page, 'Replace with mine').click()
  await page.getByText('Added: Larix kaempferi').waitFor()
  assert.match(await stored(next), /"name":"Larix kaempferi"/)
  assert.equal(await nextId(), String(BigInt(next) + 1n))
  await page.context().close()
})
