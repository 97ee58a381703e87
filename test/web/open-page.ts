import { buffer } from 'node:stream/consumers'
import type { Browser, Download, Page } from 'playwright-core'
import { openChromium } from '../support/browser/chromium.ts'
import { type Lifetime, type StartedApp, TOKEN } from '../support/http/start-app.ts'

export interface OpenedPage {
  page: Page
  /** Errors and warnings of the console (violations of the CSP, too), and uncaught exceptions. */
  faults: string[]
  requests: string[]
}

interface OpenOptions {
  /** The path after the URL of the service. */
  path?: string
  width?: number
  height?: number
  /** The device scale factor. */
  pixelRatio?: number
  /** The font size of the root, in percent of the default. */
  textPercent?: number
  scheme?: 'light' | 'dark'
  /** The language of the browser. */
  locale?: string
}

/** Far more than any step takes, beside other programs too. */
const PATIENCE_MS = 20_000

/** Starts Chromium, until the end of the test or of its file. */
export async function openBrowser(test: Lifetime): Promise<Browser> {
  const browser = await openChromium()
  test.after(() => browser.close())
  return browser
}

/** A style sheet adopted by script: the CSP of the page blocks any other. */
const ENLARGE = `((percent) => {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync('html { font-size: ' + percent + '% !important }')
  document.adoptedStyleSheets = [sheet]
})`

/** Opens the web app in a fresh profile. */
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
  page.setDefaultTimeout(PATIENCE_MS)
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

/** `openPage`, signed in. */
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

/** Imports plants, a line of JSON each. */
export async function importLines(app: StartedApp, lines: readonly string[]): Promise<void> {
  const response = await app.send('POST', '/plants/import', lines.join('\n'), {
    'content-type': 'application/x-ndjson',
  })
  const { created } = (await response.json()) as { created: number }
  if (created !== lines.length) throw new Error(`${created} of ${lines.length} plants were stored`)
}

/** The ids of the rendered rows, from top to bottom. */
export async function idsShown(page: Page): Promise<string[]> {
  return page.locator('.row .id').allTextContents()
}

/** Holds requests to such URLs until the returned function is called. */
export async function holdRequests(page: Page, url: RegExp): Promise<() => void> {
  const held = Promise.withResolvers<void>()
  await page.route(url, async (route) => {
    await held.promise
    await route.continue()
  })
  return held.resolve
}

/** The text of a downloaded file. */
export async function textOf(download: Download): Promise<string> {
  // `text` would drop a byte order mark.
  return (await buffer(await download.createReadStream())).toString()
}
