import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filesUnder, read } from './support/source-imports.ts'

/** A statement of the file itself, not of a function in it: those are indented. */
const AWAIT = /^(?:[^'"`\s][^'"`]*= )?await\b/
const TEST = /^(?:test|describe)\(|^for \(/

/**
 * While a file waits the tests that it has begun run, and where they are done first so is the file for node:test:
 * it calls what `after` was given, the tests that follow miss what they need, and may never end.
 */
test('a test file has no top-level await after its first test', () => {
  const files = filesUnder('test', '.test.ts')
  const awaiting = (lines: string[]) => lines.findIndex((line) => AWAIT.test(line))
  assert.ok(files.filter((file) => awaiting(read(file).split('\n')) > 0).length > 10, 'such lines are found')
  const wrong = files.filter((file) => {
    const lines = read(file).split('\n')
    const first = lines.findIndex((line) => TEST.test(line))
    return first >= 0 && awaiting(lines.slice(first)) >= 0
  })
  assert.deepEqual(wrong, [])
})
