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
 * A service and a browser that the tests of a file share: there before the first of them runs, with what `prepare`
 * stores, and gone after the last one. Where there is no Chromium nothing is started: those tests are skipped.
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
    if (site === undefined) throw new Error('The site is not started outside of the tests.')
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
