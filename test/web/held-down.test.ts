import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { chromiumMissing as skip } from '../support/browser/chromium.ts'
import { importLines, openSignedIn } from './open-page.ts'
import { startSite } from './start-site.ts'

const site = startSite((app) => importLines(app, ['{"id":1,"name":"Quercus robur"}']))

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

/** Repeats the key, as a keyboard does while it is held down. */
async function holdEnter(page: Page, done: Promise<unknown>): Promise<void> {
  let isDone = false
  done.then(
    () => (isDone = true),
    () => (isDone = true),
  )
  while (!isDone) await page.keyboard.down('Enter')
  await done
  for (let more = 0; more < 10; more++) await page.keyboard.down('Enter')
  await page.keyboard.up('Enter')
}

test('holding Enter adds and saves once, and opens nothing afterwards', { skip }, async () => {
  const { page } = await openSignedIn(site.browser, site.app)
  await button(page, 'Quercus robur').waitFor()
  const writes: string[] = []
  page.on('request', (request) => {
    if (request.method() !== 'GET') writes.push(request.method())
  })
  await button(page, 'Add a plant').click()
  await page.getByLabel('Id', { exact: true }).fill('2')
  await page.getByLabel('Name', { exact: true }).fill('Ilex aquifolium')
  await holdEnter(page, page.getByText('Added: Ilex aquifolium').waitFor())
  assert.equal(await page.getByRole('dialog').count(), 0)
  await button(page, 'Quercus robur').click()
  await page.getByLabel('Name', { exact: true }).fill('Quercus alba')
  await holdEnter(page, page.getByText('Saved: Quercus alba').waitFor())
  assert.equal(await page.getByRole('dialog').count(), 0)
  assert.equal(writes.length, 2, String(writes))
  await page.close()
})
