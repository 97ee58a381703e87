import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { postgresMissing } from '../support/postgres/postgres-server.ts'

const RUN = ['bench/run.ts', '--rounds', '1', '--seconds', '1', '--no-peers', '--only', 'create,get']

test('the bench measures creates and gets beside the floors and prints ratios', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, RUN, { encoding: 'utf8', timeout: 60_000 })
  assert.equal(status, 0, stderr)
  for (const other of ['node:http echo', 'SQLite insert loop']) {
    assert.match(stdout, new RegExp(`^\\| ${other} +\\| [\\d,]+ +\\| \\d+\\.\\d\\d \\(`, 'm'))
  }
})

test('the bench holds creates of a watched service against those of one that nothing watches', () => {
  const parameters = ['--rounds', '1', '--seconds', '1', '--only', 'overhead']
  const { status, stdout, stderr } = spawnSync(process.execPath, ['bench/run.ts', ...parameters], {
    encoding: 'utf8',
    timeout: 60_000,
  })
  assert.equal(status, 0, stderr)
  assert.match(stdout, /^\| plantstore, unwatched +\| [\d,]+ +\|/m)
  assert.match(stdout, /^\| plantstore, metrics, scraped every second +\| [\d,]+ +\| \d+\.\d\d \(/m)
})

test('the bench offers more creates than can be done, and each is accepted or refused', () => {
  const parameters = ['--rounds', '1', '--seconds', '1', '--only', 'overload']
  const { status, stdout, stderr } = spawnSync(process.execPath, ['bench/run.ts', ...parameters], {
    encoding: 'utf8',
    timeout: 90_000,
  })
  assert.equal(status, 0, stderr)
  assert.match(stdout, /^\| accepted, a second +\| [1-9][\d,]* /m)
  assert.match(stdout, /^\| anything else, in all +\| 0 /m)
  assert.match(stdout, /^\| overload: accepted, p99 +\| < 250 ms /m)
})

test('the bench measures PostgreSQL beside a statement a request', { skip: postgresMissing }, () => {
  const parameters = ['--engine', 'postgres', '--rounds', '1', '--seconds', '1', '--only', 'create']
  const { status, stdout, stderr } = spawnSync(process.execPath, ['bench/run.ts', ...parameters], {
    encoding: 'utf8',
    timeout: 60_000,
  })
  assert.equal(status, 0, stderr)
  assert.match(stdout, /^\| a statement a request +\| [\d,]+ +\| \d+\.\d\d \(/m)
  assert.match(stdout, /^\| create: times a statement a request +\| ≥ 2\.50 /m)
})

test('the bench names the engines that it knows when it is asked for another', () => {
  const { status, stderr } = spawnSync(process.execPath, ['bench/run.ts', '--engine', 'oracle'], {
    encoding: 'utf8',
  })
  assert.equal(status, 2)
  assert.match(stderr, /^--engine knows sqlite, postgres, but not "oracle"\./)
})
