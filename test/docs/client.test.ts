import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startApp } from '../support/http/start-app.ts'
import { codeBlocks, GUIDES } from './documents.ts'
import { runPrograms } from './run-guide.ts'

/** Runs the programs of a guide on a service of its own; returns the lines that they print. */
const linesOf = async (t: TestContext, guide: string) => runPrograms(t, await startApp(t), guide)

test('the client program of the README works unchanged, in ten lines', async (t) => {
  const [block = ''] = codeBlocks('README.md', 'js')
  assert.ok(block.trim().split('\n').length <= 10)
  assert.deepEqual(await linesOf(t, 'README.md'), ['9007199254740995n Euterpe oleracea'])
})

test('the programs of docs/client.md work unchanged', async (t) => {
  const lines = await linesOf(t, 'docs/client.md')
  assert.equal(lines[0], '9007199254741001n Euterpe oleracea')
  assert.match(lines[1] ?? '', /9007199254741001/)
  assert.equal(lines[2], '0 1 []')
  assert.match(lines.join('\n'), /^\d+ …$/m)
  assert.equal(lines.at(-1), 'Seed 11000')
})

test('no other guide has programs that are not tested', () => {
  const withPrograms = GUIDES.filter((guide) => codeBlocks(guide, 'js').length > 0)
  assert.deepEqual(withPrograms, ['README.md', 'docs/client.md'])
})
