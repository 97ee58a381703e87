import { after, before } from 'node:test'
import type { Browser } from 'playwright-core'
import { chromiumMissing } from '../support/browser/chromium.ts'
import { type StartedApp, startApp } from '../support/http/start-app.ts'
import { openBrowser } from './open-page.ts'

export interface Site {
  readonly app: StartedApp
  readonly browser: Browser
}

/**
 * A service and a browser shared by the tests of a file, started before the first test and stopped after the last.
 * `prepare` fills the store. Without Chromium nothing is started: the tests are skipped.
 */
export function startSite(prepare: (app: StartedApp) => Promise<unknown> = async () => undefined): Site {
  let site: Site | undefined
  const ends: (() => void | Promise<void>)[] = []
  const lifetime = { after: (end: () => void | Promise<void>) => ends.push(end) }
  before(async () => {
    if (chromiumMissing) return
    const app = await startApp(lifetime)
    await prepare(app)
    site = { app, browser: await openBrowser(lifetime) }
  })
  after(async () => {
    for (const end of ends.reverse()) await end()
  })
  const started = () => {
    if (site === undefined) throw new Error('The site runs only during tests.')
    return site
  }
  return {
    get app() {
      return started().app
    },
    get browser() {
      return started().browser
    },
  }
}
