import type { Page } from 'playwright-core'

export interface GapWatch {
  /** The longest time since `reset`, in milliseconds, in which a part of the view had no plant. */
  longestMs(): Promise<number>
  reset(): Promise<void>
}

/** The checked positions in the view, from 0 (top) to 1 (bottom). */
const LOOK_AT = [0.01, 0.25, 0.5, 0.75, 0.99]

/** Checks the list in every frame. */
export async function watchGaps(page: Page): Promise<GapWatch> {
  await page.evaluate(`(() => {
    window.gapMs = 0
    let since
    function look(now) {
      const list = document.querySelector('.scroller')
      const { left, top, height } = list.getBoundingClientRect()
      const isGap = ${JSON.stringify(LOOK_AT)}.some((share) => {
        const row = document.elementFromPoint(left + 300, top + height * share)?.closest('.row')
        return !row || row.querySelector('.ghost') !== null
      })
      if (isGap) since ??= now
      if (since !== undefined) window.gapMs = Math.max(window.gapMs, now - since)
      if (!isGap) since = undefined
      requestAnimationFrame(look)
    }
    requestAnimationFrame(look)
  })()`)
  return {
    longestMs: async () => Number(await page.evaluate('window.gapMs')),
    reset: async () => void (await page.evaluate('window.gapMs = 0')),
  }
}
