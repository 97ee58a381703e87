import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { sharedVariables } from './support/shared-variables.ts'

// Runs the tests: `node test/run.ts [--quick] [file or pattern…]`. `--quick` leaves out what needs a browser,
// PostgreSQL or the built package.

const QUICK = '--quick'
const ALL = 'test/**/*.test.ts'
const NOT_QUICK = /^test\/(?:web|package|storage\/postgres|support\/postgres)\//
/** A test that takes longer hangs. */
const TEST_TIMEOUT_MS = 300_000
/** Files at once: many wait for a process, a disk or a moment, and leave the processor to others. */
const CONCURRENCY = 2 * availableParallelism()

const parameters = process.argv.slice(2)
const isQuick = parameters.includes(QUICK)
const patterns = parameters.filter((parameter) => parameter !== QUICK)
const files = globSync(patterns.length === 0 ? ALL : patterns)
  .filter((file) => !isQuick || !NOT_QUICK.test(file))
  .sort()
if (files.length === 0) throw new Error(`No test file matches ${patterns.join(' ')}`)

const flags = [
  '--test',
  `--test-concurrency=${CONCURRENCY}`,
  `--test-timeout=${TEST_TIMEOUT_MS}`,
  '--test-global-setup=test/support/global-setup.ts',
]
const child = spawn(process.execPath, [...flags, ...files], {
  env: { ...process.env, ...(isQuick && { [sharedVariables.quick]: '1' }) },
  stdio: 'inherit',
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void child.kill(signal))
child.once('close', (code) => {
  process.exitCode = code ?? 1
})
