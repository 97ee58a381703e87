import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readOptions } from '../../bench/options.ts'

test('the message for an unknown engine of the bench lists the known ones', () => {
  assert.throws(() => readOptions(['--engine', 'oracle']), {
    message: '--engine knows sqlite, postgres, but not "oracle".',
  })
})
