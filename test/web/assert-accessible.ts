import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** A folder for pictures of the page, ignored by git; somebody may look at them. */
export const PICTURES = fileURLToPath(new URL('../../data/page-pictures/', import.meta.url))

/** Waits for what moves: meanwhile it has neither its place nor its colours. */
export async function settle(page: Page): Promise<void> {
  await page.evaluate('Promise.all(document.getAnimations().map((one) => one.finished.catch(() => 0)))')
}

/** Fails where axe finds a fault in what the page shows; `view` names it. */
export async function assertAccessible(page: Page, view: string): Promise<void> {
  await page.evaluate(axe.source)
  await settle(page)
  const found = (await page.evaluate('axe.run().then(({ violations }) => violations)')) as axe.Result[]
  const told = found.map(
    ({ id, nodes }) =>
      `${view}: ${id}: ${nodes.map(({ html, failureSummary }) => html + failureSummary).join('\n')}`,
  )
  assert.deepEqual(told, [])
}
