import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { chromiumMissing as skip } from '../support/browser/chromium.ts'
import { eventually } from '../support/eventually.ts'
import { startApp } from '../support/http/start-app.ts'
import { holdRequests, importLines, openSignedIn } from './open-page.ts'
import { startSite } from './start-site.ts'

const site = startSite()

const dialog = (page: Page) => page.getByRole('dialog')
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const nameField = (page: Page) => dialog(page).getByLabel('Name', { exact: true })

async function fill(page: Page, { id, name, tag }: { id?: string; name?: string; tag?: string }) {
  if (id !== undefined) await dialog(page).getByLabel('Id', { exact: true }).fill(id)
  if (name !== undefined) await nameField(page).fill(name)
  if (tag !== undefined) await dialog(page).getByLabel('Tag', { exact: true }).fill(tag)
}

async function stored(id: bigint | string): Promise<string> {
  return (await site.app.fetch(`/plants/${id}`)).text()
}

async function openPlant(page: Page, name: string) {
  await button(page, name).click()
  await dialog(page).locator('#plant-name:enabled').waitFor()
}

test('the least and the greatest id are added as typed', { skip }, async () => {
  const { page } = await openSignedIn(site.browser, site.app)
  await page.getByText('No plants yet.').waitFor()
  for (const id of ['-9223372036854775808', '9007199254740993', '9223372036854775807']) {
    await button(page, 'Add a plant').click()
    await fill(page, { id, name: `Plant of ${id}`, tag: 'edge' })
    await button(page, 'Add').click()
    await page.getByText(`Added: Plant of ${id}`).waitFor()
    const begin = `{"id":${id},"name":"Plant of ${id}","tag":"edge",`
    assert.equal((await stored(id)).slice(0, begin.length), begin)
    await page.locator('.row .id', { hasText: id }).waitFor()
  }
  assert.equal((await site.app.fetch('/plants/9007199254740992')).status, 404)
  await page.close()
})

test('a free id is suggested, and missing values are reported beside their fields', {
  skip,
}, async (context) => {
  const own = await startApp(context)
  await importLines(
    own,
    Array.from({ length: 1_000 }, (_, at) => `{"id":${at * 3},"name":"Plant ${at}"}`),
  )
  const { page } = await openSignedIn(site.browser, own)
  await button(page, 'Add a plant').click()
  const suggested = dialog(page).getByLabel('Id', { exact: true })
  await eventually(async () => (await suggested.inputValue()) === '2998')
  await button(page, 'Add').click()
  const error = page.locator('#plant-name-error')
  await error.getByText('Enter a name.').waitFor()
  await eventually(async () => (await page.evaluate('document.activeElement.id')) === 'plant-name')
  await fill(page, { id: '9223372036854775808' })
  await button(page, 'Add').click()
  await page.locator('#plant-id-error').getByText('Enter a whole number').waitFor()
  await fill(page, { id: '', name: 'Linnaea borealis' })
  await button(page, 'Add').click()
  await page.getByText('Added: Linnaea borealis').waitFor()
  await page.close()
})

test('typing replaces an id that is suggested while the field has the focus', { skip }, async () => {
  const { page } = await openSignedIn(site.browser, site.app)
  const letGo = await holdRequests(page, /\/next-id/)
  await button(page, 'Add a plant').click()
  const id = page.getByLabel('Id', { exact: true })
  await id.focus()
  letGo()
  await eventually(async () => /^\d+$/.test(await id.inputValue()))
  await page.keyboard.type('77')
  assert.equal(await id.inputValue(), '77')
  await page.close()
})

test('a field that the service rejects has an error beside it', { skip }, async () => {
  const { page } = await openSignedIn(site.browser, site.app)
  await button(page, 'Add a plant').click()
  await fill(page, { id: '5', name: 'nul' })
  await nameField(page).evaluate((element) => {
    const input = element as unknown as { value: string; dispatchEvent(event: Event): void }
    input.value = `a${String.fromCharCode(0)}b`
    input.dispatchEvent(new Event('input', { bubbles: true }))
  })
  await button(page, 'Add').click()
  await page
    .locator('#plant-name-error')
    .getByText('This contains a character that cannot be stored.')
    .waitFor()
  assert.equal((await site.app.fetch('/plants/5')).status, 404)
  await page.close()
})

test('a used id shows both plants, and nothing is lost without a choice', { skip }, async () => {
  await site.app.send('PUT', '/plants/20', '{"name":"The first","tag":"old"}')
  const { page } = await openSignedIn(site.browser, site.app)
  await button(page, 'Add a plant').click()
  await fill(page, { id: '20', name: 'The second' })
  await button(page, 'Add').click()
  await page.getByText('Id 20 is already used. Which plant should have it?').waitFor()
  await dialog(page).getByText('The first').waitFor()
  await dialog(page).getByText('The second').waitFor()
  assert.match(await stored(20n), /"name":"The first","tag":"old"/)
  await button(page, 'Back').click()
  assert.equal(await nameField(page).inputValue(), 'The second')
  await button(page, 'Add').click()
  await button(page, 'Replace with mine').click()
  await page.getByText('Added: The second').waitFor()
  assert.doesNotMatch(await stored(20n), /"tag"/)
  assert.match(await stored(20n), /"name":"The second"/)
  await button(page, 'Add a plant').click()
  await fill(page, { id: '20', name: 'The third' })
  await button(page, 'Add').click()
  const { id } = (await (await site.app.fetch('/next-id')).json()) as { id: number }
  await button(page, 'Add mine with the next free id').click()
  await page.getByText('Added: The third').waitFor()
  assert.match(await stored(String(id)), /"name":"The third"/)
  await page.close()
})

test('an edit changes only the edited members', { skip }, async () => {
  await site.app.send('PUT', '/plants/30', '{"name":"Acer","tag":"tree"}')
  const { page } = await openSignedIn(site.browser, site.app, { path: '/?at=30' })
  await openPlant(page, 'Acer')
  const change = page.waitForRequest((request) => request.method() === 'PATCH')
  await fill(page, { tag: '' })
  await button(page, 'Save').click()
  assert.equal((await change).postData(), '{"tag":null}')
  await page.getByText('Saved: Acer').waitFor()
  assert.match(await stored(30n), /^\{"id":30,"name":"Acer","createdAt"/)
  await openPlant(page, 'Acer')
  await fill(page, { name: 'Acer <i>campestre</i> ×' })
  await button(page, 'Save').click()
  await button(page, 'Acer <i>campestre</i> ×').waitFor()
  await page.close()
})

test('the second editor sees the version of the first, and chooses', { skip }, async () => {
  await site.app.send('PUT', '/plants/40', '{"name":"Betula"}')
  const { page } = await openSignedIn(site.browser, site.app, { path: '/?at=40' })
  for (const [choice, name] of [
    ['Keep the stored name', 'Betula pendula'],
    ['Replace with mine', 'Betula nana'],
  ] as const) {
    await site.app.send('PUT', '/plants/40', '{"name":"Betula"}')
    await page.reload()
    await openPlant(page, 'Betula')
    await site.app.send('PUT', '/plants/40', '{"name":"Betula pendula"}')
    await fill(page, { name: 'Betula nana' })
    await button(page, 'Save').click()
    await page.getByText('Someone else edited this plant, too. Keep which name?').waitFor()
    await dialog(page).getByText('Betula pendula').waitFor()
    await dialog(page).getByText('Betula nana').waitFor()
    await button(page, choice).click()
    await button(page, name).waitFor()
    assert.match(await stored(40n), new RegExp(`"name":"${name}"`))
  }
  await openPlant(page, 'Betula nana')
  await site.app.fetch('/plants/40', { method: 'DELETE' })
  await button(page, 'Save').click()
  await page.getByText('Someone else deleted this plant.').waitFor()
  await button(page, 'Add it again').click()
  await dialog(page).waitFor({ state: 'detached' })
  assert.match(await stored(40n), /"name":"Betula nana"/)
  await page.close()
})

test('a delete is undone, and undoing overwrites no other plant', { skip }, async () => {
  await site.app.send('PUT', '/plants/50', '{"name":"Fagus","tag":"tree"}')
  const { page } = await openSignedIn(site.browser, site.app, { path: '/?at=50' })
  for (const isTaken of [false, true]) {
    await openPlant(page, 'Fagus')
    await button(page, 'Delete').click()
    await page.getByText('Deleted: Fagus').waitFor()
    assert.equal((await site.app.fetch('/plants/50')).status, 404)
    assert.equal(await button(page, 'Fagus').count(), 0)
    if (isTaken) await site.app.send('PUT', '/plants/50', '{"name":"Another"}')
    await button(page, 'Undo').click()
    await page.getByText(isTaken ? 'Not restored' : 'Restored: Fagus').waitFor()
    assert.match(await stored(50n), isTaken ? /"name":"Another"/ : /"name":"Fagus","tag":"tree"/)
  }
  await page.close()
})

test('an add whose response is lost is retried with its key, and adds once', { skip }, async () => {
  const { page } = await openSignedIn(site.browser, site.app)
  await page.getByRole('button', { name: 'Add a plant' }).click()
  await fill(page, { id: '60', name: 'Larix' })
  const keys = new Set<string | undefined>()
  let isLost = true
  await page.route(/\/plants$/, async (route) => {
    keys.add(route.request().headers()['idempotency-key'])
    if (!isLost) return route.continue()
    await route.fetch()
    return route.abort()
  })
  await button(page, 'Add').click()
  await page.getByText('Your change may or may not have been saved.').waitFor()
  assert.equal(await nameField(page).inputValue(), 'Larix')
  isLost = false
  await button(page, 'Add').click()
  await page.getByText('Added: Larix').waitFor()
  assert.equal(keys.size, 1)
  assert.match([...keys][0] ?? '', /^\d+(-\d+){3}$/)
  await page.close()
})
