import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** A folder for screenshots, ignored by git. */
export const PICTURES = fileURLToPath(new URL('../../data/page-pictures/', import.meta.url))

/** Defines `axe` in a page. It has no value: the object would be sent back as a copy. */
const AXE = `${axe.source}\n;undefined`

/** Waits for running transitions: until they end, places and colours are not final. */
export async function settle(page: Page): Promise<void> {
  await page.evaluate('Promise.all(document.getAnimations().map((one) => one.finished.catch(() => 0)))')
}

/** Fails if axe finds a fault in the page, by its `rules` or all of them. `view` names it in the message. */
export async function assertAccessible(page: Page, view: string, rules?: readonly string[]): Promise<void> {
  if (await page.evaluate('typeof axe === "undefined"')) await page.evaluate(AXE)
  await settle(page)
  const options = rules === undefined ? '' : JSON.stringify({ runOnly: rules })
  const found = (await page.evaluate(
    `axe.run(${options}).then(({ violations }) => violations)`,
  )) as axe.Result[]
  const faults = found.map(
    ({ id, nodes }) =>
      `${view}: ${id}: ${nodes.map(({ html, failureSummary }) => html + failureSummary).join('\n')}`,
  )
  assert.deepEqual(faults, [])
}
