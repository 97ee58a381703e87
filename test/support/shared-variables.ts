import { fileURLToPath } from 'node:url'

/** The variables through which a run of many files shares what is expensive (global-setup.ts). */
export const sharedVariables = {
  /** Where Node keeps compiled modules, for the tests and the services that they start. */
  compileCache: 'NODE_COMPILE_CACHE',
  /** The endpoint of a running browser. */
  browser: 'TEST_BROWSER',
  /** The data folder of a PostgreSQL cluster that was never started. */
  postgresTemplate: 'TEST_POSTGRES_TEMPLATE',
  /** Set where nothing that needs a browser or PostgreSQL is run. */
  quick: 'TEST_QUICK',
} as const

export const COMPILE_CACHE = fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url))

/** What a service of a test gets of the environment: nothing that could change how it behaves. */
export function serviceEnvironment(): NodeJS.ProcessEnv {
  const { PATH, [sharedVariables.compileCache]: compileCache } = process.env
  return { PATH, ...(compileCache !== undefined && { [sharedVariables.compileCache]: compileCache }) }
}
