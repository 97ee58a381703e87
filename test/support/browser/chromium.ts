import { existsSync } from 'node:fs'

/** Where Debian has it. */
export const CHROMIUM = '/usr/bin/chromium'

/** Without what would ask the network for something. */
export const CHROMIUM_FLAGS = [
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
export const chromiumMissing =
  existsSync(CHROMIUM) || process.env.CI ? false : `the page is not tested: there is no ${CHROMIUM}`
