import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readVersion } from '../../src/version.ts'
import { chromiumMissing as skip } from '../support/browser/chromium.ts'
import { startApp } from '../support/http/start-app.ts'
import { openPage, openSignedIn } from './open-page.ts'
import { startSite } from './start-site.ts'

const site = startSite()
const NAME = `Plant Store ${await readVersion()} · SQLite`

test('the footer names the version and the engine, and links to the reference', { skip }, async () => {
  for (const open of [openPage, openSignedIn]) {
    const { page, requests } = await open(site.browser, site.app)
    const footer = page.getByRole('contentinfo')
    await footer.getByText(`${NAME} · ready`, { exact: true }).waitFor()
    for (const [name, path] of [
      ['API reference', '/docs'],
      ['OpenAPI', '/openapi.json'],
    ] as const) {
      const link = footer.getByRole('link', { name })
      assert.equal(await link.getAttribute('href'), site.app.url + path)
      assert.equal((await fetch(site.app.url + path)).status, 200)
    }
    // The document is large, and the web app does not need it.
    assert.ok(!requests.some((url) => url.endsWith('/openapi.json')))
    await page.context().close()
  }
})

test('the footer says what is wrong, and when it is over', { skip }, async (context) => {
  const own = await startApp(context)
  const { page } = await openSignedIn(site.browser, own)
  const footer = page.getByRole('contentinfo')
  await footer.getByText(`${NAME} · ready`).waitFor()
  for (const [code, state] of [
    [50302, 'database unavailable'],
    [50303, 'shutting down'],
  ] as const) {
    await page.route(/\/readyz$/, (route) =>
      route.fulfill({ status: 503, json: { error: code, message: 'It is not ready.' } }),
    )
    await page.evaluate("dispatchEvent(new Event('online'))")
    await footer.getByText(`${NAME} · ${state}`, { exact: true }).waitFor()
    await page.unroute(/\/readyz$/)
  }
  await page.evaluate("dispatchEvent(new Event('online'))")
  await footer.getByText(`${NAME} · ready`).waitFor()
  await page.context().setOffline(true)
  await footer.getByText(`${NAME} · no connection`).waitFor()
  await page.context().setOffline(false)
  await footer.getByText(`${NAME} · ready`).waitFor()
  await page.context().close()
})
