import { existsSync } from 'node:fs'
import type { Browser, BrowserServer } from 'playwright-core'
import { sharedVariables } from '../shared-variables.ts'

/**
 * Where Debian has it: the shell without windows, as a page in it costs a fifth of the processor time, else the whole
 * browser.
 */
const PROGRAMS = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'] as const
const CHROMIUM = PROGRAMS.find((program) => existsSync(program))

/** Without what would ask the network for something. */
const CHROMIUM_FLAGS = [
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
  if (CHROMIUM !== undefined || process.env.CI) return false
  return `the web app is not tested: there is no ${PROGRAMS.join(' and no ')}`
}

const LAUNCH_OPTIONS = { executablePath: CHROMIUM ?? PROGRAMS[0], args: CHROMIUM_FLAGS }

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
