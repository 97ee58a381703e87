import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { chromiumMissing as skip } from '../support/browser/chromium.ts'
import { eventually } from '../support/eventually.ts'
import { settle } from './assert-accessible.ts'
import { layoutFaults } from './layout-faults.ts'
import { importLines, openSignedIn } from './open-page.ts'
import { startSite } from './start-site.ts'

const MARKUP = '<img src=x onerror="document.title=\'broken\'"><script>document.title="broken"</script>'
/** Texts that break a page that interprets them, or whose direction leaks into the text around them. */
const HOSTILE = [
  'Medicago ×varia',
  '"Quercus" \'robur\' &amp; `Concordia`',
  'ورد جوري شامي (Rosa) 12',
  '\u202Eeman a si siht',
  '\u2067\u202D never closed \u2066',
  'x'.repeat(500),
  '👩‍🌾🏽'.repeat(60),
  MARKUP,
  'two\nlines\r\n\tand\u2028more\u0085',
  'Z̸̡͔̪̈́̾a̷l̵g̶o̴'.repeat(20),
]
/** A window high enough for every row. */
const SIZE = { width: 360, height: 1_000 }

const site = startSite(async (app) => {
  await importLines(
    app,
    HOSTILE.map((text, at) => JSON.stringify({ id: at + 1, name: text, tag: text })),
  )
  for (const label of HOSTILE) {
    // The service rejects some of them as labels.
    await app.send('POST', '/tokens', JSON.stringify({ label: label.slice(0, 200), scopes: ['plants:read'] }))
  }
})

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

/** Fails if a text ran as code, broke the view, or is not isolated in direction. */
async function assertContained(page: Page, where: string): Promise<void> {
  await settle(page)
  assert.doesNotMatch(await page.title(), /broken/, where)
  assert.equal(await page.locator('img[src="x"]').count(), 0, where)
  assert.deepEqual(await layoutFaults(page), [], where)
  const open = await page.evaluate(`(() => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    const open = []
    for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
      const element = node.parentElement
      if (!/[\\u0590-\\u08ff\\u202a-\\u202e\\u2066-\\u2069]/.test(node.data) || element.closest('option')) continue
      if (!/isolate|plaintext/.test(getComputedStyle(element).unicodeBidi)) open.push(element.outerHTML)
      else if (element.localName !== 'bdi') open.push(element.outerHTML)
    }
    return open
  })()`)
  assert.deepEqual(open, [], `${where}: not isolated`)
}

test('rows and charts show any name and any tag as text', { skip }, async () => {
  const { page } = await openSignedIn(site.browser, site.app, SIZE)
  await page
    .locator('.row .id')
    .nth(HOSTILE.length - 1)
    .waitFor()
  const shown = await page.locator('.row .name bdi').allTextContents()
  // Long texts are truncated at 300 characters, never within a surrogate pair.
  assert.deepEqual(
    shown.map((text) => text.slice(0, 299)),
    HOSTILE.map((text) => text.slice(0, 299)),
  )
  await assertContained(page, 'rows')
  await page.getByRole('link', { name: 'Collection' }).click()
  await page
    .locator('.bars .mark')
    .nth(HOSTILE.length - 1)
    .waitFor()
  await assertContained(page, 'tags')
  await page.context().close()
})

test('dialogs and notices show any name and any tag as text', { skip }, async () => {
  const { page } = await openSignedIn(site.browser, site.app, SIZE)
  for (const [at, name] of HOSTILE.entries()) {
    const row = page.locator('.row').filter({ has: page.getByText(String(at + 1), { exact: true }) })
    const open = async () => {
      await row.locator('button').click()
      await page.locator('#plant-name:enabled').waitFor()
    }
    await open()
    await assertContained(page, `change ${at}`)
    // An input has one line: only the edited field is changed.
    await site.app.send('PATCH', `/plants/${at + 1}`, JSON.stringify({ tag: `${name}!` }))
    await page.getByLabel('Tag', { exact: true }).last().fill('another')
    await button(page, 'Save').click()
    await page.getByText('Someone else edited this plant').waitFor()
    await assertContained(page, `conflict ${at}`)
    await button(page, 'Keep the stored tag').click()
    await open()
    await button(page, 'Delete').click()
    await button(page, 'Undo').waitFor()
    await assertContained(page, `removed ${at}`)
    await button(page, 'Undo').click()
    await page.getByText('Restored:').waitFor()
    await assertContained(page, `undone ${at}`)
    const stored = (await (await site.app.fetch(`/plants/${at + 1}`)).json()) as { name: string; tag: string }
    assert.deepEqual([stored.name, stored.tag], [name, `${name}!`])
    for (const close of await page.locator('.notice .x').all())
      await close.click({ timeout: 500 }).catch(() => 0)
  }
  await page.context().close()
})

test('any label of a token is shown as text', { skip }, async () => {
  const { page } = await openSignedIn(site.browser, site.app, { ...SIZE, path: '/?view=tokens' })
  const revoke = page.getByRole('button', { name: /^Revoke/ })
  await revoke.nth(3).waitFor()
  await assertContained(page, 'tokens')
  for (let left = await revoke.count(); left > 0; left--) {
    await revoke.first().click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).waitFor()
    await assertContained(page, 'a question')
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await assertContained(page, 'a notice')
    await eventually(async () => (await page.locator('.tokens li').count()) === left - 1)
  }
  await page.context().close()
})
