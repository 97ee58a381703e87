import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { openChromium, chromiumMissing as skip } from '../../support/browser/chromium.ts'
import { assertErrorResponse } from '../../support/http/error-body.ts'
import { exchange, statusesIn } from '../../support/http/raw-http.ts'
import { type StartedApp, startApp, TOKEN } from '../../support/http/start-app.ts'

/** The odd one of two ids that a JavaScript number cannot distinguish. */
const ID = '9007199254740993'

const FILES = ['swagger-ui-bundle.js', 'swagger-ui.css', 'reference.js', 'reference.css', 'leaf.svg']

test('the page creates and reads a plant with a 64-bit id without rounding it', {
  skip,
}, async (context) => {
  const app = await startApp(context)
  const { page, faults, requests } = await openPage(context, app)
  await authorise(page)

  const create = await openOperation(page, 'Plants-createPlant')
  await create
    .locator('textarea.body-param__text')
    .fill(`{"id": ${ID}, "name": "Medicago ×varia", "tag": "herb"}`)
  await execute(create)
  assert.match(await textIn(create, '.live-responses-table'), /^CodeDetails200/)
  assert.match(await textIn(create, '.curl-command'), new RegExp(`"id": ${ID},`))
  assert.match(await headersShown(create), new RegExp(`location: /plants/${ID}( |$)`))

  const get = await openOperation(page, 'Plants-getPlant')
  await get.locator('tr[data-param-name=id] input').fill(ID)
  await execute(get)
  assert.equal(await textIn(get, '.request-url'), `Request URL${app.url}/plants/${ID}`)
  const shown = await bodyShown(get)
  assert.ok(
    shown.startsWith(`{\n  "id": ${ID},\n  "name": "Medicago ×varia",\n  "tag": "herb",\n  "createdAt": "`),
    shown,
  )

  const stored = await app.fetch(`/plants/${ID}`)
  assert.ok((await stored.text()).startsWith(`{"id":${ID},"name":"Medicago ×varia","tag":"herb",`))
  assert.equal((await app.fetch('/plants/9007199254740992')).status, 404)

  assert.deepEqual(faults, [])
  assert.ok(requests.length > 5)
  assert.deepEqual(
    requests.filter((url) => new URL(url).origin !== app.url),
    [],
  )
  assert.ok(!page.url().includes(TOKEN) && !requests.some((url) => url.includes(TOKEN)))
  const kept = await page.evaluate(
    'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
  )
  assert.equal(kept, '[{},{},""]')
})

test('the page shows the exact digits of a list, also below the path of a base URL and on a narrow screen', {
  skip,
}, async (context) => {
  const app = await startApp(context, { PLANTSTORE_BASE_URL: 'https://plants.example/my/store' })
  const names = ['"quoted" \\ back', `{"id":${ID}}`, 'two\nlines', '1e2', '🌱']
  const ids = ['-9223372036854775808', '-9007199254740993', '0', ID, '9223372036854775807']
  for (const [at, id] of ids.entries()) {
    const created = await app.send('POST', '/plants', `{"id":${id},"name":${JSON.stringify(names[at])}}`)
    assert.equal(created.status, 200)
  }
  const { page, faults, requests } = await openPage(context, app, 375)
  await authorise(page)
  const list = await openOperation(page, 'Plants-listPlants')
  await execute(list)
  const shown = await bodyShown(list)
  assert.deepEqual(
    [...shown.matchAll(/^ {4}"id": (.*),$/gm)].map(([, id]) => id),
    ids,
  )
  assert.deepEqual(
    (JSON.parse(shown) as { name: string }[]).map(({ name }) => name),
    names,
  )
  assert.deepEqual(faults, [])
  for (const url of requests) assert.ok(url.startsWith(`${app.url}/`), url)
  assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 375)
})

test('the page and its files need no token and have a strict content security policy', async (context) => {
  const app = await startApp(context)
  const page = await app.fetch('/docs', { headers: { authorization: '' } })
  assert.equal(page.status, 200)
  assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8')
  const policy = page.headers.get('content-security-policy')?.split('; ') ?? []
  for (const rule of [
    "default-src 'none'",
    "script-src 'self'",
    "connect-src 'self'",
    "frame-ancestors 'none'",
  ]) {
    assert.ok(policy.includes(rule), rule)
  }
  assert.doesNotMatch(policy.join(), /unsafe|\*|http/)
  const html = await page.text()
  assert.doesNotMatch(html, /<script(?![^>]* src=)|<style| style=| on\w+=|(?:src|href)="(?!\/)/)
  const named = [...html.matchAll(/"\/docs\/([^"]+)"/g)].map(([, file]) => file)
  assert.deepEqual([...new Set(named)].sort(), [...FILES].sort())
  for (const file of FILES) {
    const response = await app.fetch(`/docs/${file}`, { headers: { authorization: '' } })
    assert.equal(response.status, 200, file)
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
    assert.ok((await response.text()).length > 100)
  }
})

test('a file is sent again only if it has changed, and compressed if the client accepts gzip', async (context) => {
  const app = await startApp(context)
  const get = async (headers: Record<string, string>, method = 'GET') => {
    const response = await app.fetch('/docs/swagger-ui.css', { method, headers })
    return { response, bytes: (await response.bytes()).length }
  }
  const plain = await get({ 'accept-encoding': 'identity' })
  const zipped = await get({ 'accept-encoding': 'br, gzip;q=0.5' })
  const etags = [plain, zipped].map(({ response }) => response.headers.get('etag') ?? '')
  assert.notEqual(etags[0], etags[1])
  assert.equal(zipped.response.headers.get('content-encoding'), 'gzip')
  assert.equal(zipped.bytes, plain.bytes)
  assert.ok(Number(zipped.response.headers.get('content-length')) < plain.bytes / 3)
  for (const encodings of ['gzip;q=0', 'gzip; q=0.000, br', 'br', '']) {
    assert.equal((await get({ 'accept-encoding': encodings })).response.headers.get('content-encoding'), null)
  }
  for (const [at, encodings] of ['identity', 'gzip'].entries()) {
    const again = await get({ 'accept-encoding': encodings, 'if-none-match': `"other", ${etags[at]}` })
    assert.deepEqual([again.response.status, again.bytes], [304, 0])
    assert.equal(again.response.headers.get('etag'), etags[at])
    assert.equal(again.response.headers.get('vary'), 'accept-encoding')
  }
  const head = await get({ 'accept-encoding': 'identity' }, 'HEAD')
  assert.deepEqual([head.response.status, head.bytes], [200, 0])
  assert.equal(head.response.headers.get('content-length'), String(plain.bytes))
  assert.equal((await app.fetch('/docs', { method: 'HEAD' })).status, 200)
  await assertErrorResponse(await app.fetch('/docs', { method: 'POST' }), 405, 40501)
})

test('other names are 404, whatever file on the disk they point to', async (context) => {
  const app = await startApp(context)
  const names = [
    'none.js',
    'constructor',
    '__proto__',
    'package.json',
    'swagger-ui-bundle.js.map',
    '%2e%2e%2fapp.ts',
  ]
  for (const name of [...names, '..%2f..%2fpackage.json', '%2fetc%2fpasswd', '..%5capp.ts', 'leaf.svg%00']) {
    await assertErrorResponse(
      await app.fetch(`/docs/${name}`, { headers: { authorization: '' } }),
      404,
      40401,
    )
  }
  // Not even a name of the page's own: a caller without a token does not learn which paths exist.
  for (const path of [
    '/docs/../package.json',
    '/docs/a/../../../package.json',
    '/docs/x/leaf.svg',
    '/docs//leaf.svg',
  ]) {
    const response = await exchange(app.port, `GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
    assert.deepEqual(statusesIn(response), [401], path)
  }
})

async function openPage(context: TestContext, app: StartedApp, width = 1440) {
  const browser = await openChromium()
  context.after(() => browser.close())
  const page = await browser.newPage({ viewport: { width, height: 900 } })
  /** Errors on the console (a violated policy is one), and errors that a script threw. */
  const faults: string[] = []
  const requests: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text())
  })
  page.on('pageerror', (error) => faults.push(String(error)))
  page.on('request', (request) => {
    if (!request.url().startsWith('data:')) requests.push(request.url())
  })
  await page.goto(`${app.url}/docs`)
  return { page, faults, requests }
}

async function authorise(page: Page): Promise<void> {
  await page.locator('.btn.authorize').click()
  await page.locator('.auth-container input').fill(TOKEN)
  await page.locator('.auth-btn-wrapper .authorize').click()
  await page.locator('.auth-btn-wrapper .btn-done').click()
}

async function openOperation(page: Page, name: string): Promise<Locator> {
  const operation = page.locator(`#operations-${name}`)
  await operation.locator('.opblock-summary-control').click()
  await operation.locator('.try-out__btn').click()
  return operation
}

async function execute(operation: Locator): Promise<void> {
  await operation.locator('.btn.execute').click()
  await operation.locator('.live-responses-table').waitFor()
}

function bodyShown(operation: Locator): Promise<string> {
  return textIn(operation, '.live-responses-table .highlight-code code')
}

function headersShown(operation: Locator): Promise<string> {
  return textIn(operation, '.live-responses-table .response-col_description pre:has(.headerline)')
}

/** The text of the one element that is on the screen and matches. */
async function textIn(operation: Locator, selector: string): Promise<string> {
  const element = operation.locator(selector)
  await element.waitFor({ state: 'visible' })
  return (await element.textContent()) ?? ''
}
