import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chromiumMissing as skip } from '../support/browser/chromium.ts'
import { importLines, openSignedIn } from './open-page.ts'
import { startSite } from './start-site.ts'

const site = startSite((app) => importLines(app, ['{"id":7,"name":"Rosa canina","tag":"shrub"}']))

/** Elements marked by a background, and what marks them in forced colours. */
const MARKED = {
  'a notice has an edge':
    "style('.notice').borderTopWidth + ' ' + (style('.notice').borderTopColor !== ground)",
  'the view one is in is underlined': "style('nav [aria-current]').textDecorationLine",
  'the state of the service has a dot': "String(style('.state', '::before').backgroundColor !== ground)",
}
const EXPECTED = ['1px true', 'underline', 'true']

test('elements marked by a background are marked otherwise in forced colours', { skip }, async () => {
  const { page } = await openSignedIn(site.browser, site.app)
  await page.getByText('· ready').waitFor()
  await page.getByLabel('Go to id').fill('7')
  await page.keyboard.press('Enter')
  await page.getByText('At id 7.').waitFor()
  for (const scheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ forcedColors: 'active', colorScheme: scheme })
    const found = await page.evaluate(`(() => {
      const style = (selector, part) => getComputedStyle(document.querySelector(selector), part)
      const ground = style('body').backgroundColor
      return [${Object.values(MARKED)}]
    })()`)
    assert.deepEqual(found, EXPECTED, Object.keys(MARKED).join())
  }
  await page.context().close()
})
