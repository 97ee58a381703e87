// Writes docs/pictures, what the README shows of the page: the real page over a garden, in Chromium.
import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { startWithPlants } from '../web/added-plants.ts'
import { openBrowser, openPage, signIn } from '../web/open-page.ts'
import { gardenPlants } from './garden-plants.ts'
import type { StartedApp } from './http/start-app.ts'

/** Who reads the README on a slow line waits for them, too. */
const BYTES_MAX = 150_000

interface Picture {
  name: string
  width: number
  height: number
  scheme: 'light' | 'dark'
  path: string
  arrive(page: Page): Promise<void>
}

const PICTURES: readonly Picture[] = [
  {
    name: 'plants-wide',
    width: 1280,
    height: 760,
    scheme: 'light',
    path: '/',
    arrive: (page) => page.locator('.row').nth(9).waitFor(),
  },
  {
    name: 'plants-phone-dark',
    width: 390,
    height: 760,
    scheme: 'dark',
    path: '/?tag=fern',
    arrive: (page) => page.locator('.row').nth(5).waitFor(),
  },
  {
    name: 'collection-phone-dark',
    width: 390,
    height: 760,
    scheme: 'dark',
    path: '/?view=collection',
    arrive: async (page) => {
      await page.locator('.columns i').first().waitFor()
      await page.locator('.bar span').nth(2).waitFor()
    },
  },
]

const ends: (() => void | Promise<void>)[] = []
const lifetime = { after: (end: () => void | Promise<void>) => void ends.push(end) }
try {
  const app = await startWithPlants(lifetime, gardenPlants(Date.now()))
  const made = await app.send(
    'POST',
    '/tokens',
    '{"label":"Garden office","scopes":["plants:read","plants:write","tokens:manage"]}',
  )
  const { token } = (await made.json()) as { token: string }
  const browser = await openBrowser(lifetime)
  for (const picture of PICTURES) await take(picture, { app, browser, token })
} finally {
  for (const end of ends.reverse()) await end()
}

interface Garden {
  app: StartedApp
  browser: Browser
  token: string
}

async function take(picture: Picture, { app, browser, token }: Garden): Promise<void> {
  const { name, arrive, ...options } = picture
  const { page } = await openPage(browser, app, options)
  // Debian's Chromium brings it along: the pictures look alike wherever they are made.
  await page.evaluate("document.documentElement.style.fontFamily = 'Liberation Sans'")
  await signIn(page, token)
  await arrive(page)
  await page.getByText('· ready').waitFor()
  // Nothing that only the one who sits before it would see: no ring around what has the focus, no pointer.
  await page.evaluate('document.activeElement.blur()')
  await page.mouse.move(0, 0)
  const path = fileURLToPath(new URL(`../../docs/pictures/${name}.png`, import.meta.url))
  await page.screenshot({ path, animations: 'disabled' })
  const bytes = statSync(path).size
  console.log(`docs/pictures/${name}.png: ${Math.ceil(bytes / 1000)} kB`)
  if (bytes > BYTES_MAX) throw new Error(`${name}.png is larger than ${BYTES_MAX} bytes`)
}
