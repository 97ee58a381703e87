import type { Page } from 'playwright-core'

/** Records layout shifts of a page from its load on. */
export async function watchLayoutShifts(page: Page): Promise<void> {
  await page.evaluate(`(() => {
    window.shifts = []
    new PerformanceObserver((list) => window.shifts.push(...list.getEntries())).observe({
      type: 'layout-shift',
      buffered: true,
    })
  })()`)
}

interface LayoutShifts {
  /** The sum of all scores, also of shifts right after a key or a click, which browsers exclude. */
  score: number
  /** The elements that moved. */
  moved: string
}

/** The shifts since `watchLayoutShifts`, or since the last call. */
export async function takeLayoutShifts(page: Page): Promise<LayoutShifts> {
  return page.evaluate(`new Promise((resolve) => requestAnimationFrame(() => setTimeout(() => {
    const shifts = window.shifts.splice(0)
    const moved = shifts.flatMap(({ sources }) => sources).map(({ node, previousRect, currentRect }) =>
      (node?.parentElement?.className ?? '') + ' > ' + (node?.localName ?? '') + '.' + (node?.className ?? '') + ' ' +
      [previousRect, currentRect].map(({ x, y, width, height }) => [x, y, width, height].map(Math.round)).join(' to '))
    resolve({ score: shifts.reduce((sum, { value }) => sum + value, 0), moved: moved.join('; ') })
  }, 50)))`)
}
