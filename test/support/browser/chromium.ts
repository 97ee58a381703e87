import { existsSync } from 'node:fs'
import type { Browser, BrowserServer } from 'playwright-core'
import { sharedVariables } from '../shared-variables.ts'

/** Where Debian has it. */
const CHROMIUM = '/usr/bin/chromium'

/** Features that cost time or ask the network for something. */
const DISABLED_FEATURES = [
  // Each window would prepare two pages of suggestions for an address bar that nobody sees: a second of processor time.
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxFullPopup',
  // What Playwright disables: Chromium obeys the last of several lists.
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'PreconnectToSearch',
]
/** Without what would ask the network for something. */
const CHROMIUM_FLAGS = [
  `--disable-features=${DISABLED_FEATURES.join()}`,
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-quic',
]

/** Why what needs it is not tested. A build server must have it: there a test that is not run is one that fails. */
export const chromiumMissing = whyMissing()

function whyMissing(): string | false {
  if (process.env[sharedVariables.quick] !== undefined) return 'a quick run has no browser'
  return existsSync(CHROMIUM) || process.env.CI ? false : `the page is not tested: there is no ${CHROMIUM}`
}

const LAUNCH_OPTIONS = { executablePath: CHROMIUM, args: CHROMIUM_FLAGS }

/**
 * A browser, whose contexts are the caller's alone: one of the whole run where there is one, else a new one. Closing
 * it closes these contexts.
 */
export async function openChromium(): Promise<Browser> {
  const { chromium } = await import('playwright-core')
  const endpoint = process.env[sharedVariables.browser]
  return endpoint === undefined ? chromium.launch(LAUNCH_OPTIONS) : chromium.connect(endpoint)
}

/** The browser of a run. */
export async function launchChromiumServer(): Promise<BrowserServer> {
  const { chromium } = await import('playwright-core')
  return chromium.launchServer({ ...LAUNCH_OPTIONS, host: '127.0.0.1' })
}
