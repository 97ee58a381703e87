import type { Locator, Page } from 'playwright-core'
import { eventually } from '../support/eventually.ts'
import type { StartedApp } from '../support/http/start-app.ts'

/** Opens the import dialog and chooses a file with this content. */
export async function chooseFile(page: Page, name: string, content: string | Buffer): Promise<Locator> {
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await giveFile(page, name, content)
  return dialog
}

/** Chooses a file in the open dialog. */
export async function giveFile(page: Page, name: string, content: string | Buffer): Promise<void> {
  const buffer = typeof content === 'string' ? Buffer.from(content) : content
  await page.getByLabel('File to import').setInputFiles({ name, mimeType: '', buffer })
}

/** Starts the import and waits until all rows are stored or failed. */
export async function importAll(dialog: Locator): Promise<void> {
  await dialog.getByRole('button', { name: 'Import', exact: true }).click()
  await dialog.getByText(/^(?:Import complete|No row could be imported)/).waitFor()
}

/** Waits until this first id is suggested. */
export async function idIsSuggested(dialog: Locator, id: string): Promise<void> {
  await eventually(async () => (await dialog.getByLabel('First id').inputValue()) === id)
}

/** The cells of the preview, row by row. */
export async function previewCells(dialog: Locator): Promise<string[][]> {
  const rows = await dialog.locator('.preview tbody tr').all()
  return Promise.all(rows.map((row) => row.locator('td').allTextContents()))
}

/** The role of each column of the preview. */
export async function columnRoles(dialog: Locator): Promise<string[]> {
  return dialog
    .locator('.preview select')
    .evaluateAll((selects) => selects.map((select) => (select as unknown as { value: string }).value))
}

/** Every stored plant as id, name and tag. Ids are exact texts. */
export async function storedPlants(app: StartedApp): Promise<[string, string, string?][]> {
  const response = await app.fetch('/plants', { headers: { accept: 'application/x-ndjson' } })
  const lines = (await response.text()).split('\n').filter((line) => line !== '')
  return lines.map((line) => {
    const id = /"id":(-?\d+)/.exec(line)?.[1] ?? ''
    const { name, tag } = JSON.parse(line) as { name: string; tag?: string }
    return tag === undefined ? [id, name] : [id, name, tag]
  })
}

/** Loses the response to import request `number`, from 1, after the service has handled it. */
export async function loseResponse(page: Page, number: number): Promise<void> {
  let count = 0
  await page.route('**/plants/import?**', async (route) => {
    count += 1
    if (count !== number) return route.continue()
    await route.fetch()
    await route.abort('connectionreset')
  })
}
