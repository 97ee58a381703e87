import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chromiumMissing as skip } from '../../test/support/browser/chromium.ts'
import { startApp } from '../../test/support/http/start-app.ts'
import { openBrowser, openSignedIn } from '../../test/web/open-page.ts'

const MEBIBYTE = 2 ** 20
/** Each row has a note, which is not imported: so the file is large, and its plants are few. */
const NOTE_BYTES = 30_000
const ROW_COUNT = 1_500
/** What the browser reads ahead (it is at 8 MiB all the time), a slice, and a copy of it that is sent: a third of the file. */
const GROWTH_BYTES_MAX = 15 * MEBIBYTE
/** When it is through. */
const LEFT_BYTES_MAX = 3 * MEBIBYTE

/** Chooses a file of 45 MB in the dialog that is open. It is made in the browser: it never was in the memory of the page. */
const CHOOSE_LARGE_FILE = `(() => {
  const note = new Blob(['n'.repeat(${NOTE_BYTES}), '\\n'])
  const parts = ['id,name,note\\n']
  for (let id = 1; id <= ${ROW_COUNT}; id++) parts.push(id + ',Rosa canina,', note)
  const transfer = new DataTransfer()
  transfer.items.add(new File(parts, 'large.csv'))
  const input = document.getElementById('import-file')
  input.files = transfer.files
  input.dispatchEvent(new Event('change', { bubbles: true }))
})()`

test('a large file goes through without being in memory', { skip }, async (context) => {
  const app = await startApp(context)
  const { page, faults } = await openSignedIn(await openBrowser(context), app)
  const devtools = await page.context().newCDPSession(page)
  async function usedBytes(): Promise<number> {
    await devtools.send('HeapProfiler.collectGarbage')
    const { usedSize, backingStorageSize } = await devtools.send('Runtime.getHeapUsage')
    return usedSize + backingStorageSize
  }
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('File to import').waitFor()
  await page.evaluate(CHOOSE_LARGE_FILE)
  await dialog.getByText('45 MB').waitFor()
  const before = await usedBytes()
  const used: Promise<number>[] = []
  let count = 0
  page.on('request', (request) => {
    if (!request.url().includes('/plants/import?')) return
    count += 1
    if (count % 10 === 0) used.push(usedBytes())
  })
  await dialog.getByRole('button', { name: 'Import', exact: true }).click()
  await dialog.getByText(`${ROW_COUNT.toLocaleString('en')} added.`).waitFor({ timeout: 60_000 })
  const growth = (await Promise.all(used)).map((bytes) => bytes - before)
  const message = `It grew by ${growth.map((bytes) => (bytes / MEBIBYTE).toFixed(1)).join(', ')} MiB.`
  assert.ok(growth.length > 3, `${count} requests`)
  assert.ok(Math.max(...growth) < GROWTH_BYTES_MAX, message)
  assert.ok((await usedBytes()) - before < LEFT_BYTES_MAX)
  assert.deepEqual(faults, [])
})
