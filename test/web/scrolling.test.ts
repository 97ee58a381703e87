import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CDPSession, Page } from 'playwright-core'
import { chromiumMissing as skip } from '../support/chromium.ts'
import { eventually } from '../support/eventually.ts'
import { startApp } from '../support/start-app.ts'
import { idsShown, importLines, openBrowser, openSignedIn } from './open-page.ts'

/** More rows than the page gives a place of their own in the scroll bar. */
const PLANTS = 170_000
const GAP_MS_MAX = 300
const HEAP_GROWTH_BYTES_MAX = 8_000_000

/** Scrolls by so many pixels each frame; the longest time that the middle of the list showed no plant. */
function scroll(page: Page, pixels: number, durationMs: number): Promise<number> {
  return page.evaluate(`new Promise((resolve) => {
    const list = document.querySelector('.scroller')
    const { left, top, height } = list.getBoundingClientRect()
    const begin = performance.now()
    let last = begin
    let gapMs = 0
    let gapMsMax = 0
    function step(now) {
      const row = document.elementFromPoint(left + 300, top + height / 2)?.closest('.row')
      const isGap = !row || row.querySelector('.ghost') !== null
      gapMs = isGap ? gapMs + now - last : 0
      gapMsMax = Math.max(gapMsMax, gapMs)
      last = now
      list.scrollTop += ${pixels}
      if (now - begin < ${durationMs}) requestAnimationFrame(step)
      else resolve(gapMsMax)
    }
    requestAnimationFrame(step)
  })`)
}

async function heapBytes(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage')
  const { metrics } = await session.send('Performance.getMetrics')
  return metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? Number.NaN
}

test('through many plants the list shows no gap, and memory stays as it is', { skip }, async (context) => {
  const app = await startApp(context)
  await importLines(
    app,
    Array.from({ length: PLANTS }, (_, at) => `{"id":${at * 5},"name":"Plant ${at}","tag":"t${at % 9}"}`),
  )
  const { page } = await openSignedIn(await openBrowser(context), app)
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable')
  await eventually(async () => (await idsShown(page))[0] === '0')
  const before = await heapBytes(session)

  for (const pixels of [300, 3_000, -3_000, 6_000]) {
    const gapMs = await scroll(page, pixels, 1_500)
    assert.ok(gapMs <= GAP_MS_MAX, `${Math.round(gapMs)} ms without a plant at ${pixels} px a frame`)
  }
  // On to the end, past the place where the rows begin to move beneath the scroll position.
  const end = String((PLANTS - 1) * 5)
  await eventually(async () => {
    await scroll(page, 10_000_000, 1_000)
    return (await idsShown(page)).at(-1) === end
  }, 30_000)
  assert.equal((await page.locator('.row').count()) < 80, true)
  const gapMs = await scroll(page, -6_000, 1_500)
  assert.ok(gapMs <= GAP_MS_MAX, `${Math.round(gapMs)} ms without a plant on the way back`)
  const ids = (await idsShown(page)).map(Number)
  assert.deepEqual(
    ids,
    ids.map((_, at) => (ids[0] ?? 0) + at * 5),
  )
  const growth = (await heapBytes(session)) - before
  assert.ok(growth < HEAP_GROWTH_BYTES_MAX, `${growth} bytes more`)
})
