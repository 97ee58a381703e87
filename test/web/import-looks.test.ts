import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { chromiumMissing as skip } from '../support/browser/chromium.ts'
import { eventually } from '../support/eventually.ts'
import { type StartedApp, startApp } from '../support/http/start-app.ts'
import { assertAccessible, PICTURES, settle } from './assert-accessible.ts'
import { chooseFile, columnRoles, giveFile, importAll, previewCells, storedPlants } from './import-dialog.ts'
import { openPage, openSignedIn, signIn } from './open-page.ts'
import { startSite } from './start-site.ts'

const ODD_NAMES = [
  'Medicago ×varia',
  '"Quercus robur", <b>fastigiate</b> & \'Concordia\'',
  'ورد جوري شامي',
  '🌵🌲🌱 cactus',
  '<img src=x onerror="document.title=\'broken\'">',
]
/** Enough rows for a second request, which can be held. */
const MORE_ROWS = 1_000

const site = startSite(async () => {
  mkdirSync(PICTURES, { recursive: true })
})

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`

function oddTable(): string {
  const odd = ODD_NAMES.map((name, at) => `${at + 1},${quoted(name)},herb,a note\n`)
  const more = Array.from({ length: MORE_ROWS }, (_, at) => `${at + 100},Rosa canina ${at},shrub,\n`)
  return `id,name,tag,${quoted(ODD_NAMES[4] ?? '')}\n${odd.join('')}wrong,${'x'.repeat(500)},,\n,without an id,,\n${more.join('')}`
}

/** The stages of the dialog, each reached from the previous one. */
async function* stages(page: Page): AsyncGenerator<string> {
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('File to import').waitFor()
  yield 'import-file'
  await giveFile(page, 'plants of the greenhouse, with a name that is too long for a phone.csv', oddTable())
  await dialog.locator('.preview tbody tr').nth(4).waitFor()
  yield 'import-form'
  await dialog.getByRole('button', { name: 'Check first' }).click()
  await dialog.getByText('Checked. Nothing is imported yet.').waitFor()
  yield 'import-checked'
  const opened = Promise.withResolvers<void>()
  let count = 0
  await page.route('**/plants/import?**', async (route) => {
    count += 1
    if (count === 2) await opened.promise
    await route.continue()
  })
  await dialog.getByRole('button', { name: 'Import', exact: true }).click()
  await dialog.getByText('2 failed').waitFor()
  yield 'import-progress'
  opened.resolve()
  await dialog.getByText(/^Import complete/).waitFor()
  yield 'import-result'
}

for (const [scheme, widths] of [
  ['light', [360, 375, 1440]],
  ['dark', [768]],
] as const) {
  test(`axe finds no fault in the import, and it fits, in ${scheme}`, { skip }, async (context) => {
    const app = await startApp(context)
    const { page, faults } = await openSignedIn(site.browser, app, { scheme })
    for await (const stage of stages(page)) {
      await assertAccessible(page, stage)
      for (const width of widths) {
        await page.setViewportSize({ width, height: 800 })
        await settle(page)
        if (width > 360) await page.screenshot({ path: `${PICTURES}${stage}-${width}.png` })
        const overflow =
          await page.evaluate(`Math.max(...[document.documentElement, document.querySelector('dialog')]
          .map((one) => one.scrollWidth - one.clientWidth))`)
        assert.ok(Number(overflow) <= 0, `${stage}: ${overflow} px too wide for ${width}`)
      }
    }
    assert.deepEqual(faults, [])
  })
}

test('the result of a check is in view on a phone', { skip }, async (context) => {
  const { page } = await openSignedIn(site.browser, await startApp(context), { width: 375, height: 600 })
  const dialog = await chooseFile(page, 'plants.csv', oddTable())
  await dialog.getByRole('button', { name: 'Check first' }).click()
  const result = dialog.getByText('Checked. Nothing is imported yet.')
  await eventually(async () => {
    const box = await result.boundingBox()
    return box !== null && box.y > 0 && box.y + box.height < 600
  })
})

test('any content of a file is shown as text', { skip }, async (context) => {
  const app = await startApp(context)
  const { page, faults } = await openSignedIn(site.browser, app)
  const dialog = await chooseFile(page, 'plants.csv', oddTable())
  await dialog.locator('.preview tbody tr').first().waitFor()
  assert.deepEqual(
    (await previewCells(dialog)).map((cells) => cells[1]),
    ODD_NAMES,
  )
  assert.deepEqual(await columnRoles(dialog), ['id', 'name', 'tag', ''])
  assert.equal(await dialog.locator('.column-name').last().textContent(), ODD_NAMES[4])
  await importAll(dialog)
  const stored = (await storedPlants(app)).slice(0, ODD_NAMES.length)
  assert.deepEqual(
    stored.map(([, name]) => name),
    ODD_NAMES,
  )
  await dialog.getByRole('button', { name: 'Choose another file' }).click()
  await giveFile(page, '<img src=x onerror="document.title=1">.ndjson', `${ODD_NAMES[4]}\n{"id":1}\n`)
  await dialog.getByText('<img src=x onerror="document.title=1">.ndjson').waitFor()
  assert.equal((await previewCells(dialog))[0]?.[0], ODD_NAMES[4])
  await importAll(dialog)
  await dialog.locator('.failed-rows li').first().waitFor()
  assert.equal(await page.locator('img[src=x]').count(), 0)
  assert.equal(await page.title(), 'Plants · Plant Store')
  assert.deepEqual(faults, [])
})

/** The id or the text of the focused element, '' for the page itself. */
async function focused(page: Page): Promise<string> {
  const where = 'document.activeElement === document.body ? "" : document.activeElement'
  return String(await page.evaluate(`(({ id, textContent }) => id || textContent)(Object(${where}))`))
}

/** Presses Tab until the element with this id or text has the focus. */
async function tabTo(page: Page, target: string): Promise<void> {
  for (let keys = 0; (await focused(page)) !== target; keys++) {
    assert.ok(keys < 40, `${target} is not reached`)
    await page.keyboard.press('Tab')
  }
}

test('a file is imported with the keyboard alone, and the focus returns to where it was', {
  skip,
}, async (context) => {
  const app = await startApp(context)
  const { page } = await openSignedIn(site.browser, app)
  await tabTo(page, 'Import')
  await page.keyboard.press('Enter')
  await page.getByLabel('File to import').waitFor()
  await eventually(async () => (await focused(page)) === 'import-file')
  const choosing = page.waitForEvent('filechooser')
  await page.keyboard.press('Space')
  const buffer = Buffer.from('id,name\n1,Rosa canina\n2,\n')
  await (await choosing).setFiles({ name: 'plants.csv', mimeType: 'text/csv', buffer })
  const dialog = page.getByRole('dialog')
  await dialog.locator('.preview').waitFor()
  await eventually(async () => (await focused(page)) === 'Import')
  await page.keyboard.press('Enter')
  await dialog.getByText('1 added, 1 failed.').waitFor()
  await eventually(async () => (await focused(page)).includes('1 added, 1 failed.'))
  await tabTo(page, 'Close')
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })
  assert.equal(await focused(page), 'Import')
})

/** Drags a file over the list and drops it. */
async function drop(page: Page, name: string, content: string): Promise<void> {
  const dropped = await page.evaluateHandle(`(() => {
    const transfer = new DataTransfer()
    transfer.items.add(new File([${JSON.stringify(content)}], ${JSON.stringify(name)}))
    return transfer
  })()`)
  await page.dispatchEvent('.plants', 'dragover', { dataTransfer: dropped })
  await page.dispatchEvent('.plants', 'drop', { dataTransfer: dropped })
}

test('a file dropped on the list is previewed, and nothing is stored', {
  skip,
}, async (context) => {
  const app = await startApp(context)
  const { page } = await openSignedIn(site.browser, app)
  await drop(page, 'dropped.csv', 'id,name\n1,Rosa canina\n')
  const dialog: Locator = page.getByRole('dialog')
  await dialog.getByText('dropped.csv').waitFor()
  assert.deepEqual(await previewCells(dialog), [['1', 'Rosa canina']])
  assert.deepEqual(await storedPlants(app), [])
  await importAll(dialog)
  assert.deepEqual(await storedPlants(app), [['1', 'Rosa canina']])
})

test('a read-only token is not offered an import', { skip }, async (context) => {
  const app: StartedApp = await startApp(context)
  const made = await app.send('POST', '/tokens', '{"label":"x","scopes":["plants:read"]}')
  const { page, requests } = await openPage(site.browser, app)
  await signIn(page, ((await made.json()) as { token: string }).token)
  await page.getByRole('button', { name: 'Export' }).waitFor()
  assert.equal(await page.getByRole('button', { name: 'Import' }).count(), 0)
  await drop(page, 'dropped.csv', 'id,name\n1,Rosa canina\n')
  await page.getByRole('button', { name: 'Export' }).click()
  await page.getByText('Saves all plants').waitFor()
  assert.equal(await page.getByRole('dialog').count(), 1)
  assert.deepEqual(
    requests.filter((url) => /import/.test(url)),
    [],
  )
})
