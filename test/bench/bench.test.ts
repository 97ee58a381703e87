import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'

const RUN = ['bench/run.ts', '--rounds', '1', '--seconds', '1', '--no-peers', '--only', 'create,get']

test('the bench measures creates and gets beside the floors and prints ratios', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, RUN, { encoding: 'utf8', timeout: 60_000 })
  assert.equal(status, 0, stderr)
  for (const other of ['node:http echo', 'SQLite insert loop']) {
    assert.match(stdout, new RegExp(`^\\| ${other} +\\| [\\d,]+ +\\| \\d+\\.\\d\\d \\(`, 'm'))
  }
})

test('the bench names the engines that it knows when it is asked for another', () => {
  const { status, stderr } = spawnSync(process.execPath, ['bench/run.ts', '--engine', 'oracle'], {
    encoding: 'utf8',
  })
  assert.equal(status, 2)
  assert.match(stderr, /^--engine knows sqlite, but not "oracle"\./)
})
