import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chromiumMissing as skip } from '../support/browser/chromium.ts'
import { openPage } from './open-page.ts'
import { startSite } from './start-site.ts'

const FIRST_LOAD_BYTES_MAX = 100_000

const site = startSite()

test('the first load is small', { skip }, async () => {
  const { page } = await openPage(site.browser, { url: 'about:blank' }, { path: '' })
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  let bytes = 0
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength
  })
  await page.goto(site.app.url)
  await page.getByText('· SQLite · ready').waitFor()
  // Without any load the test would prove nothing.
  assert.ok(bytes > FIRST_LOAD_BYTES_MAX / 10 && bytes < FIRST_LOAD_BYTES_MAX, `${bytes} bytes`)
  await page.context().close()
})
