import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { chromiumMissing as skip } from '../support/browser/chromium.ts'
import { type StartedApp, startApp } from '../support/http/start-app.ts'
import { chooseFile, loseResponse } from './import-dialog.ts'
import { openPage, openSignedIn, signIn } from './open-page.ts'
import { startSite } from './start-site.ts'

const site = startSite()

const SLICE_ROWS = 1_000

/** A table of plants. On `wrongLines`, the id is invalid. */
function table(rowCount: number, wrongLines: readonly number[] = []): string {
  const rows = Array.from({ length: rowCount }, (_, at) => {
    const id = wrongLines.includes(at + 2) ? 'wrong' : at + 1
    return `${id},Medicago ×varia of the bed number ${at + 1},herb\n`
  })
  return `id,name,tag\n${rows.join('')}`
}

interface Gate {
  /** Resolves when the request arrives and is held. */
  reached: Promise<void>
  open(): void
}

/** Holds an import's request number `number`, from 1, before it goes out. */
async function holdRequest(page: Page, number: number): Promise<Gate> {
  const reached = Promise.withResolvers<void>()
  const opened = Promise.withResolvers<void>()
  let count = 0
  await page.route('**/plants/import?**', async (route) => {
    count += 1
    if (count === number) {
      reached.resolve()
      await opened.promise
    }
    await route.continue()
  })
  return { reached: reached.promise, open: opened.resolve }
}

/** The number of plants in all pages of the list. */
async function countPlants(app: StartedApp): Promise<number> {
  let count = 0
  let after = ''
  for (;;) {
    const response = await app.fetch(`/plants?limit=1000${after}`)
    const ids = [...(await response.text()).matchAll(/"id":(-?\d+)/g)].map(([, id]) => id)
    count += ids.length
    if (ids.length < 1_000) return count
    after = `&after=${ids.at(-1)}`
  }
}

async function shares(page: Page): Promise<number[]> {
  return (await page.evaluate('window.shares')) as number[]
}

/** Records each value of the progress bar. */
async function recordShares(page: Page): Promise<void> {
  await page.evaluate(`window.shares = []
    new MutationObserver(() => {
      const bar = document.querySelector('dialog progress')
      if (bar !== null) window.shares.push(bar.value)
    }).observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true })`)
}

test('a long import shows progress, is cancelled in the middle, and is resumed to its end', {
  skip,
}, async (context) => {
  const app = await startApp(context)
  const { page, faults } = await openSignedIn(site.browser, app)
  const dialog = await chooseFile(page, 'plants.csv', table(30_000, [3, 15_007, 29_998]))
  await recordShares(page)
  const gate = await holdRequest(page, 11)
  await dialog.getByRole('button', { name: 'Import', exact: true }).click()
  await gate.reached
  await dialog.getByText('1 failed').waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.getByText('Stopping …').waitFor()
  gate.open()
  await dialog.getByText('All rows before line 11,002 were processed.').waitFor()
  await dialog.getByText('10,999 added, 1 failed.', { exact: true }).waitFor()
  assert.equal(await countPlants(app), 10_999)

  await dialog.getByRole('button', { name: 'Resume' }).click()
  await dialog.getByText(/^Import complete/).waitFor({ timeout: 30_000 })
  await dialog.getByText('29,997 added, 3 failed.', { exact: true }).waitFor()
  const lines = await dialog.locator('.failed-rows li strong').allTextContents()
  assert.deepEqual(lines, ['Line 3', 'Line 15,007', 'Line 29,998'])
  assert.equal(await countPlants(app), 29_997)
  const seen = await shares(page)
  const between = new Set(seen.filter((share) => share > 0 && share < 1))
  assert.ok(between.size > 2, [...between].join())
  assert.deepEqual(
    seen,
    seen.toSorted((one, other) => one - other),
  )
  assert.deepEqual(faults, [])
})

test('an import that loses the service is resumed when the service is back', { skip }, async (context) => {
  const first = await startApp(context)
  const { page } = await openSignedIn(site.browser, first)
  const dialog = await chooseFile(page, 'plants.csv', table(5_000, [4_321]))
  const gate = await holdRequest(page, 3)
  await dialog.getByRole('button', { name: 'Import', exact: true }).click()
  await gate.reached
  await first.stop()
  gate.open()
  await dialog.getByText("The import failed. Can't reach the server.").waitFor({ timeout: 30_000 })
  await dialog.getByText('All rows before line 2,002 were processed.').waitFor()
  await dialog.getByText('2,000 added.', { exact: true }).waitFor()
  const second = await startApp(context, {
    PLANTSTORE_PORT: String(first.port),
    PLANTSTORE_DATABASE: first.database,
  })
  assert.equal(await countPlants(second), 2_000)
  await dialog.getByRole('button', { name: 'Resume' }).click()
  await dialog.getByText(/^Import complete/).waitFor({ timeout: 30_000 })
  await dialog.getByText('4,999 added, 1 failed.', { exact: true }).waitFor()
  assert.equal(await dialog.locator('.failed-rows li strong').first().textContent(), 'Line 4,321')
  assert.equal(await countPlants(second), 4_999)
})

test('rows whose response was lost are stored once, and reported as sent twice', {
  skip,
}, async (context) => {
  const app = await startApp(context)
  const { page } = await openSignedIn(site.browser, app)
  const dialog = await chooseFile(page, 'plants.csv', table(3 * SLICE_ROWS))
  await loseResponse(page, 2)
  await dialog.getByRole('button', { name: 'Import', exact: true }).click()
  await dialog.getByText('before line 1,002 were processed. Some rows from there on may have been').waitFor()
  await dialog.getByRole('button', { name: 'Resume' }).click()
  await dialog.getByText(/^Import complete/).waitFor()
  await dialog.getByText('2,000 added, 1,000 skipped.', { exact: true }).waitFor()
  await dialog.getByText('Some rows were sent twice').waitFor()
  assert.equal(await countPlants(app), 3_000)
})

test('an import waits for a throttled request', { skip }, async (context) => {
  const app = await startApp(context, { PLANTSTORE_RATE_LIMIT_PLANTS_WRITE: '2' })
  const { page } = await openSignedIn(site.browser, app)
  let rejected = 0
  page.on('response', (response) => {
    if (response.status() === 429) rejected += 1
  })
  const dialog = await chooseFile(page, 'plants.csv', table(5 * SLICE_ROWS))
  await dialog.getByRole('button', { name: 'Import', exact: true }).click()
  await dialog.getByText('The server is busy. The import continues in a moment …').first().waitFor()
  await dialog.getByText(/^Import complete/).waitFor({ timeout: 30_000 })
  await dialog.getByText('5,000 added.', { exact: true }).waitFor()
  assert.ok(rejected > 0)
  assert.equal(await countPlants(app), 5_000)
})

test('revoking the token during an import leads to the sign-in form, and the import can be resumed', {
  skip,
}, async (context) => {
  const app = await startApp(context)
  const made = await app.send('POST', '/tokens', '{"label":"x","scopes":["plants:read","plants:write"]}')
  const { id, token } = (await made.json()) as { id: string; token: string }
  const { page } = await openPage(site.browser, app)
  await signIn(page, token)
  const dialog = await chooseFile(page, 'plants.csv', table(3 * SLICE_ROWS))
  const gate = await holdRequest(page, 2)
  await dialog.getByRole('button', { name: 'Import', exact: true }).click()
  await gate.reached
  assert.equal((await app.fetch(`/tokens/${id}`, { method: 'DELETE' })).status, 204)
  gate.open()
  await page.getByText('You were signed out: your token has expired or was revoked.').waitFor()
  assert.equal(await countPlants(app), SLICE_ROWS)
  await signIn(page)
  await dialog.getByText('before line 1,002 were processed. No row from there on was imported').waitFor()
  await dialog.getByRole('button', { name: 'Resume' }).click()
  await dialog.getByText(/^Import complete/).waitFor()
  await dialog.getByText('3,000 added.', { exact: true }).waitFor()
  assert.equal(await countPlants(app), 3_000)
})
