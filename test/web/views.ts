import type { Page } from 'playwright-core'
import type { StartedApp } from '../support/http/start-app.ts'
import { chooseFile } from './import-dialog.ts'
import { importLines } from './open-page.ts'

/** Names that break a page that interprets them. */
export const ODD_NAMES = [
  'Medicago ×varia',
  '"Quercus robur", <b>fastigiate</b> & \'Concordia\'',
  'ورد جوري شامي',
  'x'.repeat(500),
  '🌵🌲🌱 cactus',
  '<img src=x onerror="document.title=\'broken\'">',
]

/** Stores odd names, many plain ones, the greatest id, and a token. */
export async function storeShownThings(app: StartedApp): Promise<void> {
  const tags = [
    'tree',
    'shrub',
    'herb',
    'palm',
    'fern',
    'ورد',
    'a-tag-that-is-longer-than-it-should-be-by-far',
  ]
  const odd = ODD_NAMES.map((name, at) => ({ id: at + 1, name, tag: tags[at] }))
  const plain = Array.from({ length: 900 }, (_, at) => ({
    id: 100 + at * 3,
    name: `Rosa canina ${at}`,
    ...(at % 5 !== 0 && { tag: tags[(at * at) % tags.length] }),
  }))
  await importLines(
    app,
    [...odd, ...plain].map((plant) => JSON.stringify(plant)),
  )
  await app.send('PUT', '/plants/9223372036854775807', '{"name":"The last one","tag":"tree"}')
  await app.send(
    'POST',
    '/tokens',
    '{"label":"the greenhouse tablet","scopes":["plants:read","plants:write"]}',
  )
}

/** Each view, and the steps to it. */
export const VIEWS: Record<string, (page: Page) => Promise<void>> = {
  plants: async (page) => page.locator('.row').nth(5).waitFor(),
  add: async (page) => {
    await page.getByRole('button', { name: 'Add a plant' }).click()
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByText('Enter a name.').waitFor()
  },
  change: async (page) => {
    await page.getByRole('button', { name: 'Medicago ×varia' }).click()
    await page.locator('#plant-name:enabled').waitFor()
  },
  taken: async (page) => {
    await page.getByRole('button', { name: 'Add a plant' }).click()
    await page.getByLabel('Id', { exact: true }).fill('4')
    await page.getByLabel('Name', { exact: true }).fill('Another plant')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByText('Id 4 is already used').waitFor()
  },
  export: async (page) => {
    await page.getByRole('button', { name: 'Export' }).click()
    await page.getByText('Saves all plants').waitFor()
  },
  nothing: async (page) => {
    await page.getByLabel('Search names').fill('nothing-like-it')
    await page.getByText('No plants match.').waitFor()
  },
  collection: async (page) => {
    await page.getByRole('link', { name: 'Collection' }).click()
    await page.locator('.timeline').waitFor()
    await page.locator('.bars tbody tr').nth(2).waitFor()
  },
  tokens: async (page) => {
    await page.getByRole('link', { name: 'Tokens' }).click()
    await page.getByText('the greenhouse tablet').first().waitFor()
  },
  'new-token': async (page) => {
    await page.getByRole('link', { name: 'Tokens' }).click()
    await page.getByRole('button', { name: 'Create token' }).click()
  },
  rotate: async (page) => {
    await page.getByRole('link', { name: 'Tokens' }).click()
    await page.getByRole('button', { name: 'Rotate the greenhouse tablet' }).click()
    await page.getByLabel('in a day').waitFor()
  },
  rotated: async (page) => {
    await page.route(/\/tokens\/.*rotate/, (route) =>
      route.fulfill({ json: { ...NEW_TOKEN, token: `plst_${'w'.repeat(49)}` } }),
    )
    await VIEWS.rotate?.(page)
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate', exact: true }).click()
    await page.getByRole('button', { name: 'Done, I copied it' }).waitFor()
  },
}

/** States that need more steps. */
export const DEEPER_VIEWS: Record<string, (page: Page) => Promise<void>> = {
  'add, with a wrong id': async (page) => {
    await page.getByRole('button', { name: 'Add a plant' }).click()
    await page.getByLabel('Id', { exact: true }).fill('9223372036854775808')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByText('Enter a whole number').waitFor()
  },
  'jump, with a wrong id': async (page) => {
    await page.getByLabel('Go to id').fill('9223372036854775808')
    await page.keyboard.press('Enter')
    await page.getByText('Enter a whole number').waitFor()
  },
  conflict: async (page) => {
    let isEdited = false
    await page.route(/\/plants\/4$/, async (route) => {
      if (route.request().method() === 'PATCH') {
        isEdited = true
        return route.fulfill({ status: 412, json: { error: 41201, message: 'It is another version.' } })
      }
      const response = await route.fetch()
      const stored = (await response.json()) as object
      const headers = { ...response.headers(), etag: '"1"' }
      return isEdited
        ? route.fulfill({ response, headers, json: { ...stored, name: 'z'.repeat(500) } })
        : route.fulfill({ response })
    })
    await page.getByRole('button', { name: 'xxxx' }).click()
    await page.locator('#plant-name:enabled').fill('y'.repeat(500))
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Someone else edited this plant').waitFor()
  },
  notices: async (page) => {
    await page.route(/\/plants\/4$/, (route) =>
      route.request().method() === 'DELETE' ? route.fulfill({ status: 204 }) : route.continue(),
    )
    await page.getByRole('button', { name: 'xxxx' }).click()
    await page.locator('#plant-name:enabled').waitFor()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('Deleted: xxxx').waitFor()
    for (const id of ['5', '9223372036854775807', '-9223372036854775808']) {
      await page.getByLabel('Go to id').fill(id)
      await page.keyboard.press('Enter')
      await page.getByText(new RegExp(`(At|with) id ${id}`)).waitFor()
    }
  },
  'the greatest id': async (page) => {
    await page.getByLabel('Go to id').fill('9223372036854775807')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'The last one' }).waitFor()
  },
  failure: async (page) => {
    await page.route(/\/plants\?/, (route) => route.abort())
    await page.getByLabel('Search names').fill('rosa')
    await page.locator('.banner').waitFor()
  },
  'the numbers': async (page) => {
    await VIEWS.collection?.(page)
    await page.getByText('Numbers').click()
  },
  revoke: async (page) => {
    await VIEWS.tokens?.(page)
    await page.getByRole('button', { name: 'Revoke the greenhouse tablet' }).click()
  },
  'a new token': async (page) => {
    await page.route(/\/tokens$/, (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({ status: 201, json: { ...NEW_TOKEN, token: `plst_${'w'.repeat(49)}` } })
        : route.continue(),
    )
    await VIEWS['new-token']?.(page)
    await page.getByRole('dialog').getByRole('button', { name: 'Create token' }).click()
    await page.getByRole('button', { name: 'Done, I copied it' }).waitFor()
  },
  'import, a file to choose': async (page) => {
    await page.getByRole('button', { name: 'Import', exact: true }).click()
    await page.getByLabel('File to import').waitFor()
  },
  'import, its settings': async (page) => {
    const dialog = await chooseFile(page, `${'name'.repeat(40)}.csv`, WIDE_TABLE)
    await dialog.getByRole('button', { name: 'Check first' }).waitFor()
  },
  'import, its end': async (page) => {
    const dialog = await chooseFile(page, 'plants.csv', FAILING_TABLE)
    await dialog.getByRole('button', { name: 'Import', exact: true }).click()
    await dialog.locator('.failed-rows li').first().waitFor()
  },
  'signed out': async (page) => {
    await page.route(/\/tokens$/, (route) =>
      route.fulfill({ status: 401, json: { error: 40101, message: 'It is not known.' } }),
    )
    await page.getByRole('link', { name: 'Tokens' }).click()
    await page.getByText('You were signed out').waitFor()
  },
}

const NEW_TOKEN = { id: 'tok', label: 'tablet', scopes: ['plants:read'], createdAt: '2026-01-01T00:00:00Z' }
const WIDE_TABLE = `id,name,tag,${'column'.repeat(20)},another,${'z'.repeat(200)}\n1,${'long '.repeat(60)},t,${'q'.repeat(400)},,\n`
const FAILING_TABLE = `id,name\n1,${'taken'.repeat(80)}\n${'id'.repeat(50)},name\n`
