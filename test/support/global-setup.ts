import { globSync, statSync } from 'node:fs'
import type { BrowserServer } from 'playwright-core'
import { chromiumMissing, launchChromiumServer } from './browser/chromium.ts'
import { postgresMissing } from './postgres/postgres-installation.ts'
import { makePostgresTemplate } from './postgres/postgres-template.ts'
import { COMPILE_CACHE, sharedVariables } from './shared-variables.ts'

// What all files of a run share, each of which is a process of its own: a cache of compiled modules, a browser and
// an empty PostgreSQL cluster. A file that is run alone does without.

let browser: BrowserServer | undefined
let template: { folder: string; remove(): void } | undefined

export async function globalSetup(): Promise<void> {
  process.env[sharedVariables.compileCache] ??= COMPILE_CACHE
  const isQuick = process.env[sharedVariables.quick] !== undefined
  if (!isQuick && !chromiumMissing) {
    if (isWebAppStale()) await import('../../build/build-web-app.ts')
    browser = await launchChromiumServer()
    process.env[sharedVariables.browser] = browser.wsEndpoint()
  }
  if (!isQuick && postgresMissing === undefined) {
    template = await makePostgresTemplate()
    process.env[sharedVariables.postgresTemplate] = template.folder
  }
}

/** Whether a source of the built web app changed since: its tests would wait for what it does not show. */
function isWebAppStale(): boolean {
  const builtAtMs = statSync('web/dist/manifest.json', { throwIfNoEntry: false })?.mtimeMs ?? 0
  return globSync(['web/app/**', 'src/**']).some((path) => statSync(path).mtimeMs > builtAtMs)
}

export async function globalTeardown(): Promise<void> {
  await browser?.close()
  template?.remove()
}
