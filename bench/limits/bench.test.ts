import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { postgresMissing } from '../../test/support/postgres/postgres-server.ts'

/** Far more than a run takes here. */
const PATIENCE_MS = 240_000

/** Runs the bench once, as briefly as it can, and returns what it printed. */
function runBench(...parameters: string[]): string {
  const flags = ['--rounds', '1', '--seconds', '1', '--no-peers', ...parameters]
  const { status, stdout, stderr } = spawnSync(process.execPath, ['bench/run.ts', ...flags], {
    encoding: 'utf8',
    timeout: PATIENCE_MS,
  })
  assert.equal(status, 0, stderr)
  return stdout
}

test('the bench measures creates beside the floors, metrics and an overload, and prints ratios', () => {
  const stdout = runBench('--only', 'create,overhead,overload')
  for (const other of ['node:http echo', 'SQLite insert loop']) {
    assert.match(stdout, new RegExp(`^\\| ${other} +\\| [\\d,]+ +\\| \\d+\\.\\d\\d \\(`, 'm'))
  }
  assert.match(stdout, /^\| plantstore, unwatched +\| [\d,]+ +\|/m)
  assert.match(stdout, /^\| plantstore, metrics, scraped every second +\| [\d,]+ +\| \d+\.\d\d \(/m)
  assert.match(stdout, /^\| accepted, a second +\| [1-9][\d,]* /m)
  assert.match(stdout, /^\| anything else, in all +\| 0 /m)
  assert.match(stdout, /^\| overload: accepted, p99 +\| < 250 ms /m)
})

test('the bench measures PostgreSQL beside a statement a request', { skip: postgresMissing }, () => {
  const stdout = runBench('--engine', 'postgres', '--only', 'create', '--seconds', '3')
  assert.match(stdout, /^\| a statement a request +\| [\d,]+ +\| \d+\.\d\d \(/m)
  assert.match(stdout, /^\| create: times a statement a request +\| ≥ 2\.50 /m)
})
