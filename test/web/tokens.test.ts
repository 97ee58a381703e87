import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chromiumMissing as skip } from '../support/browser/chromium.ts'
import { startApp } from '../support/http/start-app.ts'
import { importLines, openBrowser, openSignedIn } from './open-page.ts'

test('a token is created, shown once, used, and revoked after a confirmation', { skip }, async (context) => {
  const app = await startApp(context)
  const { page } = await openSignedIn(await openBrowser(context), app, { path: '/?view=tokens' })
  const list = async () =>
    (await (await app.fetch('/tokens')).json()) as { label: string; scopes: string[] }[]
  await page.getByRole('button', { name: 'Create token' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('read plants').uncheck()
  await dialog.getByRole('button', { name: 'Create token' }).click()
  await dialog.getByText('Choose at least one permission.').waitFor()
  await dialog.getByLabel('Label').fill('the "greenhouse" <b>tablet</b>')
  await dialog.getByLabel('read plants').check()
  await dialog.getByLabel('Expires').fill('2020-01-01')
  await dialog.getByRole('button', { name: 'Create token' }).click()
  await dialog.getByText('Choose today or a later day.').waitFor()
  await dialog.getByLabel('Expires').fill('2099-12-31')
  await dialog.getByRole('button', { name: 'Create token' }).click()
  const secret = await dialog.getByLabel('Your new token').inputValue()
  assert.match(secret, /^plst_\w{49}$/)
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await dialog.getByRole('button', { name: 'Copy' }).click()
  await dialog.getByText('Copied.').waitFor()
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), secret)
  await dialog.getByRole('button', { name: 'Done, I copied it' }).click()
  await page.getByText('the "greenhouse" <b>tablet</b>').waitFor()
  assert.ok(!(await page.content()).includes(secret))
  const [made] = await list()
  assert.deepEqual(made?.scopes, ['plants:read'])
  assert.equal((await app.fetch('/plants', { headers: { authorization: `Bearer ${secret}` } })).status, 200)

  await page.getByRole('button', { name: /^Revoke the/ }).click()
  await dialog.getByText(/stops working within seconds/).waitFor()
  await dialog.getByRole('button', { name: 'Keep it' }).click()
  assert.equal((await list()).length, 1)
  await page.getByRole('button', { name: /^Revoke the/ }).click()
  await dialog.getByRole('button', { name: 'Revoke', exact: true }).click()
  await page.getByText(/^Revoked: the/).waitFor()
  assert.equal((await list()).length, 0)
})

test('tags are bars in a table, and lead to their plants', { skip }, async (context) => {
  const app = await startApp(context)
  await importLines(
    app,
    ['tree', 'tree', 'tree', 'herb', ''].map((tag, at) =>
      JSON.stringify({ id: at, name: `Plant ${at}`, tag }),
    ),
  )
  const { page } = await openSignedIn(await openBrowser(context), app, { path: '/?view=collection' })
  const row = page.getByRole('row', { name: /tree/ })
  assert.equal(await row.getByRole('cell').first().textContent(), '3')
  const widths = await page
    .locator('.bar span')
    .evaluateAll((bars) =>
      bars.map((bar) => Math.round((bar as unknown as { offsetWidth: number }).offsetWidth)),
    )
  assert.equal(widths.length, 3)
  assert.ok(Math.abs((widths[0] ?? 0) - 3 * (widths[1] ?? 0)) <= 3, widths.join())
  for (const [name, count] of [
    ['(empty tag)', '1 plant'],
    ['tree', '3 plants'],
  ] as const) {
    await page.getByRole('link', { name }).click()
    await page.getByText(count, { exact: true }).waitFor()
    await page.goBack()
  }
})
