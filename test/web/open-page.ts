import { buffer } from 'node:stream/consumers'
import type { Browser, Download, Page } from 'playwright-core'
import { openChromium } from '../support/browser/chromium.ts'
import { type Lifetime, type StartedApp, TOKEN } from '../support/http/start-app.ts'

export interface OpenedPage {
  page: Page
  /** What the console told of errors and warnings (a broken policy is one), and what a script threw. */
  faults: string[]
  requests: string[]
}

interface OpenOptions {
  /** Behind the URL of the service. */
  path?: string
  width?: number
  height?: number
  /** Pixels of the screen for one of the page. */
  pixelRatio?: number
  /** How large the text of the root is, in percent of the browser's own. */
  textPercent?: number
  scheme?: 'light' | 'dark'
  /** The language that the browser says its reader has. */
  locale?: string
}

/** Chromium, until the test, or the file of tests, ends. */
export async function openBrowser(test: Lifetime): Promise<Browser> {
  const browser = await openChromium()
  test.after(() => browser.close())
  return browser
}

/** A sheet that a script adopts: the policy of the page lets no other in. */
const ENLARGE = `((percent) => {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync('html { font-size: ' + percent + '% !important }')
  document.adoptedStyleSheets = [sheet]
})`

/** A fresh profile with the page of the service in it. */
export async function openPage(
  browser: Browser,
  app: Pick<StartedApp, 'url'>,
  options: OpenOptions = {},
): Promise<OpenedPage> {
  const {
    path = '/',
    width = 1280,
    height = 800,
    pixelRatio = 1,
    textPercent = 100,
    scheme = 'light',
    locale = 'en-US',
  } = options
  const profile = await browser.newContext({
    viewport: { width, height },
    deviceScaleFactor: pixelRatio,
    colorScheme: scheme,
    locale,
  })
  const page = await profile.newPage()
  page.setDefaultTimeout(5_000)
  if (textPercent !== 100) await page.addInitScript(`${ENLARGE}(${textPercent})`)
  const faults: string[] = []
  const requests: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text())
  })
  page.on('pageerror', (error) => faults.push(String(error)))
  page.on('request', (request) => requests.push(request.url()))
  await page.goto(app.url + path)
  return { page, faults, requests }
}

export async function signIn(page: Page, token = TOKEN): Promise<void> {
  await page.getByLabel('Token', { exact: true }).fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** `openPage`, and in. */
export async function openSignedIn(
  browser: Browser,
  app: Pick<StartedApp, 'url'>,
  options: OpenOptions = {},
): Promise<OpenedPage> {
  const opened = await openPage(browser, app, options)
  await signIn(opened.page)
  await opened.page.getByRole('button', { name: 'Sign out' }).waitFor()
  return opened
}

/** Stores plants, a line of JSON each. */
export async function importLines(app: StartedApp, lines: readonly string[]): Promise<void> {
  const answer = await app.send('POST', '/plants/import', lines.join('\n'), {
    'content-type': 'application/x-ndjson',
  })
  const { created } = (await answer.json()) as { created: number }
  if (created !== lines.length) throw new Error(`${created} of ${lines.length} plants were stored`)
}

/** The ids in the rows that are drawn, from top to bottom. */
export async function idsShown(page: Page): Promise<string[]> {
  return page.locator('.row .id').allTextContents()
}

/** Holds the requests of the page for such URLs, until what is returned lets them go. */
export async function holdRequests(page: Page, url: RegExp): Promise<() => void> {
  const held = Promise.withResolvers<void>()
  await page.route(url, async (route) => {
    await held.promise
    await route.continue()
  })
  return held.resolve
}

/** The text of a file that the page has saved. */
export async function textOf(download: Download): Promise<string> {
  // Not `text`, which drops a byte order mark.
  return (await buffer(await download.createReadStream())).toString()
}
