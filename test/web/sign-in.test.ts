import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { chromiumMissing as skip } from '../support/browser/chromium.ts'
import { eventually } from '../support/eventually.ts'
import { startApp, TOKEN } from '../support/http/start-app.ts'
import { importLines, openPage, openSignedIn, signIn } from './open-page.ts'
import { startSite } from './start-site.ts'

const site = startSite(async (app) => {
  await importLines(app, ['{"id":1,"name":"Quercus robur"}'])
})

async function makeToken(wanted: object): Promise<{ id: string; token: string }> {
  const response = await site.app.send('POST', '/tokens', JSON.stringify(wanted))
  return (await response.json()) as { id: string; token: string }
}

const isIn = (page: Page) => page.getByRole('button', { name: 'Sign out' }).waitFor()
const signInButton = (page: Page) => page.getByRole('button', { name: 'Sign in' })

test('a token is stored for the tab only, and is in no URL', { skip }, async () => {
  const { page, requests, faults } = await openSignedIn(site.browser, site.app)
  await page.getByRole('button', { name: 'Quercus robur' }).waitFor()
  const kept = await page.evaluate(
    '[Object.values(sessionStorage), Object.values(localStorage), document.cookie]',
  )
  assert.deepEqual(kept, [[TOKEN], [], ''])
  assert.ok(!page.url().includes(TOKEN) && !requests.some((url) => url.includes(TOKEN)))
  assert.ok(requests.every((url) => new URL(url).origin === site.app.url))
  await page.reload()
  await isIn(page)
  const other = await page.context().newPage()
  await other.goto(site.app.url)
  await signInButton(other).waitFor()
  assert.deepEqual(faults, [])
  await page.context().close()
})

test('a remembered token is used in another tab until the user signs out', { skip }, async () => {
  const { page } = await openPage(site.browser, site.app)
  await page.getByLabel('Remember it in this browser').check()
  await signIn(page)
  await isIn(page)
  const other = await page.context().newPage()
  await other.goto(site.app.url)
  await isIn(other)
  await other.getByRole('button', { name: 'Sign out' }).click()
  await signInButton(other).waitFor()
  const kept = await other.evaluate('Object.keys(localStorage).length + Object.keys(sessionStorage).length')
  assert.equal(kept, 0)
  await other.reload()
  await signInButton(other).waitFor()
  await page.context().close()
})

test('an invalid token has an error beside the field', { skip }, async () => {
  const { page } = await openPage(site.browser, site.app)
  const message = page.getByRole('alert')
  await signInButton(page).click()
  assert.equal(await message.textContent(), 'Paste the token first.')
  for (const [token, text] of [
    ['plst_nothing', 'This token is not valid. It may be mistyped, expired or revoked.'],
    ['plst_with ä space', 'A token has no spaces or special letters. Copy the whole token again.'],
    [
      (await makeToken({ scopes: ['metrics:read'] })).token,
      /^This token is valid, but it cannot read plants/,
    ],
  ] as const) {
    await signIn(page, token)
    await page.getByText(text).waitFor()
    assert.equal(await page.getByLabel('Token', { exact: true }).getAttribute('aria-invalid'), 'true')
  }
  await signIn(page)
  await isIn(page)
  await page.close()
})

test('an expired token is rejected, and a read-only one is offered no edits', { skip }, async () => {
  const expiresAt = new Date(Date.now() + 1_000).toISOString()
  const short = await makeToken({ scopes: ['plants:read'], expiresAt })
  const reader = await makeToken({ label: 'the visitors', scopes: ['plants:read'] })
  const { page } = await openPage(site.browser, site.app)
  await signIn(page, reader.token)
  await page.getByText('the visitors · read-only').waitFor()
  assert.deepEqual(await page.getByRole('navigation').getByRole('link').allTextContents(), [
    'Plants',
    'Collection',
  ])
  assert.equal(await page.getByRole('button', { name: 'Add a plant' }).count(), 0)
  await page.getByRole('button', { name: 'Quercus robur' }).click()
  await page.getByRole('dialog').getByText('Quercus robur').waitFor()
  assert.equal(
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /Save|Delete/ })
      .count(),
    0,
  )
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await eventually(() => Date.now() > Date.parse(expiresAt))
  await signIn(page, short.token)
  await page.getByText('token is not valid').waitFor()
  await page.close()
})

test('a token that may only manage tokens shows tokens and no plants', { skip }, async () => {
  const { token } = await makeToken({ label: 'office', scopes: ['tokens:manage'] })
  const { page, requests } = await openPage(site.browser, site.app)
  await signIn(page, token)
  await page.getByRole('heading', { name: 'Tokens' }).waitFor()
  assert.deepEqual(await page.getByRole('navigation').getByRole('link').allTextContents(), ['Tokens'])
  assert.ok(!requests.some((url) => /\/plants|\/tags/.test(url)))
  await page.close()
})

test('revoking the token in use signs the user out with a message', { skip }, async () => {
  const { id, token } = await makeToken({ scopes: ['plants:read'] })
  const { page } = await openPage(site.browser, site.app)
  await signIn(page, token)
  await page.getByRole('button', { name: 'Quercus robur' }).waitFor()
  assert.equal((await site.app.fetch(`/tokens/${id}`, { method: 'DELETE' })).status, 204)
  await page.getByLabel('Search names').fill('oak')
  await page.getByText('You were signed out').waitFor()
  assert.equal(await page.evaluate('sessionStorage.length'), 0)
  await page.close()
})

test('a lost connection is reported, and retried by button', { skip }, async (context) => {
  const own = await startApp(context)
  await importLines(own, ['{"id":1,"name":"Quercus robur"}'])
  const { page } = await openSignedIn(site.browser, own)
  await page.getByRole('button', { name: 'Quercus robur' }).waitFor()
  await page.context().setOffline(true)
  await page.getByLabel('Search names').fill('quercus')
  await page.getByText("Can't reach the server. Check your connection.").waitFor()
  await page.context().setOffline(false)
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('button', { name: 'Quercus robur' }).waitFor()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await own.stop()
  await signIn(page)
  await page.getByText("Can't reach the server. Check").waitFor()
  await page.close()
})

test('signing out in one tab signs out all tabs that remember the token', {
  skip,
}, async () => {
  const { page } = await openPage(site.browser, site.app)
  await page.getByLabel('Remember it').check()
  await signIn(page)
  await page.getByRole('button', { name: 'Quercus robur' }).waitFor()
  const other = await page.context().newPage()
  await other.goto(site.app.url)
  await other.getByRole('button', { name: 'Quercus robur' }).waitFor()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await other.getByLabel('Token', { exact: true }).waitFor()
  await page.context().close()
})
