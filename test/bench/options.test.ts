import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readOptions } from '../../bench/options.ts'

test('the bench names the engines that it knows when another is chosen', () => {
  assert.throws(() => readOptions(['--engine', 'oracle']), {
    message: '--engine knows sqlite, postgres, but not "oracle".',
  })
})
