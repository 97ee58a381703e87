import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CDPSession, Page } from 'playwright-core'
import { chromiumMissing as skip } from '../support/browser/chromium.ts'
import { eventually } from '../support/eventually.ts'
import { type StartedApp, startApp } from '../support/http/start-app.ts'
import { idsShown, openBrowser, openSignedIn } from './open-page.ts'
import { type GapWatch, watchGaps } from './row-gaps.ts'

const PLANTS = 1_000_000
const ID_STEP = 5
/** The rows that the scroll bar can address. */
const WINDOW_ROWS = 150_000
const LINES_PER_CHUNK = 5_000
const GAP_MS_MAX = 300
/** A busy machine pauses the page at times. A fault of the page occurs in every try. */
const TRIES = 3
const MOTION_MS = 800
const HEAP_GROWTH_BYTES_MAX = 4_000_000
const ROWS_DRAWN_MAX = 80

const scrollBy = (page: Page, pixels: number) =>
  page.locator('.scroller').evaluate((list, by) => list.scrollBy(0, by), pixels)
const scrollToShare = (page: Page, share: number) =>
  page.locator('.scroller').evaluate((element, part) => {
    element.scrollTop = element.scrollHeight * part
  }, share)

/** Ways to move through the list, each repeated until its time is over. */
const MOTIONS: Record<string, (page: Page, round: number) => Promise<unknown>> = {
  'with the wheel': (page) => page.mouse.wheel(0, 400),
  'with the wheel, back': (page) => page.mouse.wheel(0, -400),
  'with Page Down held': (page) => page.keyboard.down('PageDown'),
  'with Page Up held': (page) => page.keyboard.down('PageUp'),
  'with End': (page) => page.keyboard.press('End'),
  'with Home and End': (page, round) => page.keyboard.press(round % 2 === 0 ? 'Home' : 'End'),
  'fast, forth': (page) => scrollBy(page, 6_000),
  'fast, back': (page) => scrollBy(page, -6_000),
  'by dragging the scroll bar': (page, round) => scrollToShare(page, ((round * 7) % 20) / 20),
  'by dragging it slowly': (page, round) => scrollToShare(page, 0.9 - round / 400),
}

async function importMany(app: StartedApp): Promise<void> {
  const encoder = new TextEncoder()
  let at = 0
  const body = new ReadableStream({
    pull(controller) {
      if (at >= PLANTS) return controller.close()
      let lines = ''
      for (const end = at + LINES_PER_CHUNK; at < end; at++) {
        lines += `{"id":${at * ID_STEP},"name":"Plant ${at}","tag":"t${at % 9}"}\n`
      }
      controller.enqueue(encoder.encode(lines))
    },
  })
  const headers = { 'content-type': 'application/x-ndjson' }
  const response = await app.fetch('/plants/import', { method: 'POST', body, headers, duplex: 'half' })
  assert.equal(((await response.json()) as { created: number }).created, PLANTS)
}

/** Far more than the pages up to there take. */
const PASS_WITHIN_MS = 120_000

/** Scrolls past the rows that the scroll bar can address: from there on the window of rows moves. */
async function passWindow(page: Page): Promise<void> {
  await eventually(async () => {
    await page.evaluate(`{
      const list = document.querySelector('.scroller')
      list.scrollTop = list.scrollHeight
    }`)
    return Number((await idsShown(page)).at(-1)) / ID_STEP > WINDOW_ROWS + 2_000
  }, PASS_WITHIN_MS)
}

async function jump(page: Page, plant: number): Promise<void> {
  const id = String(plant * ID_STEP)
  await page.getByLabel('Go to id').fill(id)
  await page.keyboard.press('Enter')
  await eventually(async () => (await idsShown(page)).includes(id))
}

async function heapBytes(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage')
  return (await session.send('Runtime.getHeapUsage')).usedSize
}

/** The longest time without a row during a motion; the least of several tries. */
async function gapMsOf(page: Page, watch: GapWatch, move: (round: number) => Promise<unknown>) {
  let leastMs = Number.POSITIVE_INFINITY
  for (let tries = 0; tries < TRIES && leastMs > GAP_MS_MAX; tries++) {
    await watch.reset()
    const end = performance.now() + MOTION_MS
    for (let round = 0; performance.now() < end; round++) {
      await move(round)
      await page.evaluate('new Promise(requestAnimationFrame)')
    }
    leastMs = Math.min(leastMs, await watch.longestMs())
  }
  return leastMs
}

test('a list of a million plants shows no gap, and memory does not grow', {
  skip,
}, async (context) => {
  const app = await startApp(context)
  await importMany(app)
  const { page } = await openSignedIn(await openBrowser(context), app)
  const session = await page.context().newCDPSession(page)
  await eventually(async () => (await idsShown(page))[0] === '0')
  await page.locator('.row button').first().focus()
  await page.locator('.scroller').hover()
  const before = await heapBytes(session)
  const watch = await watchGaps(page)

  const assertNoGap = async (how: string, move: (round: number) => Promise<unknown>) => {
    const gapMs = await gapMsOf(page, watch, move)
    assert.ok(gapMs <= GAP_MS_MAX, `${Math.round(gapMs)} ms without a plant ${how}`)
    assert.ok((await page.locator('.row').count()) < ROWS_DRAWN_MAX)
  }

  for (const [how, move] of Object.entries(MOTIONS)) await assertNoGap(how, (round) => move(page, round))
  await passWindow(page)
  await assertNoGap('where the rows move, back', () => scrollBy(page, -6_000))
  await assertNoGap('where the rows move, forth', () => scrollBy(page, 3_000))
  const shown = (await idsShown(page)).map(Number)
  assert.ok((shown[0] ?? 0) > (WINDOW_ROWS / 2) * ID_STEP)
  assert.deepEqual(
    shown,
    shown.map((_, at) => (shown[0] ?? 0) + at * ID_STEP),
  )
  await assertNoGap('on jumps to ids', (round) => jump(page, (round * 379_721) % PLANTS))
  await jump(page, PLANTS - 1)
  await assertNoGap('at the end of all', (round) => scrollBy(page, round % 3 === 0 ? 9_000 : -3_000))
  const growth = (await heapBytes(session)) - before
  assert.ok(growth < HEAP_GROWTH_BYTES_MAX, `${growth} bytes more`)
})
