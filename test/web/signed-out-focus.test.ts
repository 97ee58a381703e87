import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { chromiumMissing as skip } from '../support/browser/chromium.ts'
import { importLines, openPage, signIn } from './open-page.ts'
import { startSite } from './start-site.ts'

const site = startSite((app) => importLines(app, ['{"id":1,"name":"Acer campestre"}']))

interface Made {
  id: string
  token: string
}

async function makeToken(): Promise<Made> {
  const scopes = ['plants:read', 'plants:write']
  const response = await site.app.send('POST', '/tokens', JSON.stringify({ label: 'gardener', scopes }))
  return (await response.json()) as Made
}

interface Typing {
  /** Focuses the field and types. */
  begin(page: Page): Promise<unknown>
  /** Makes the page send a request. */
  ask(page: Page): Promise<unknown>
  field: string
  /** The value of the field afterwards. */
  typed: string
}

const FIELDS: Record<string, Typing> = {
  'words to search for': {
    begin: (page) => page.getByLabel('Search names').focus(),
    ask: (page) => page.keyboard.type('acer'),
    field: '#search',
    typed: 'acer',
  },
  'an id to jump to': {
    begin: (page) => page.getByLabel('Go to id').fill('12'),
    ask: (page) => page.keyboard.press('Enter'),
    field: '#jump',
    typed: '12',
  },
  'a plant': {
    async begin(page) {
      await page.getByRole('button', { name: 'Add a plant' }).click()
      await page.getByLabel('Id', { exact: true }).fill('77')
      await page.getByLabel('Name', { exact: true }).fill('Ilex')
      await page.getByRole('dialog').getByLabel('Tag', { exact: true }).fill('shrub')
    },
    ask: (page) => page.keyboard.press('Enter'),
    field: '#plant-tag',
    typed: 'shrub',
  },
}

for (const [name, { begin, ask, field, typed }] of Object.entries(FIELDS)) {
  test(`typing ${name} while the token expires goes nowhere else, and the focus returns`, {
    skip,
  }, async () => {
    const { page } = await openPage(site.browser, site.app)
    const own = await makeToken()
    await signIn(page, own.token)
    await page.locator('.row .id').waitFor()
    await begin(page)
    assert.equal((await site.app.fetch(`/tokens/${own.id}`, { method: 'DELETE' })).status, 204)
    await ask(page)
    const overlay = page.getByRole('dialog', { name: 'Sign in' })
    await overlay.getByText('You were signed out').waitFor()
    await page.keyboard.type(' and more')
    await page.keyboard.press('Enter')
    assert.equal(await page.getByLabel('Token', { exact: true }).inputValue(), '')
    assert.equal(await overlay.getByText('Paste the token first').count(), 0)
    await page.keyboard.press('Tab')
    await page.keyboard.insertText((await makeToken()).token)
    await page.keyboard.press('Enter')
    await overlay.waitFor({ state: 'detached' })
    await page.locator(`${field}:focus`).waitFor()
    assert.equal(await page.locator(field).inputValue(), typed)
    await page.context().close()
  })
}
