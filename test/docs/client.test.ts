import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { startApp, TOKEN, temporaryFolder } from '../support/http/start-app.ts'
import { codeBlocks, GUIDES } from './documents.ts'

const CLIENT = new URL('../../src/client/plant-store-client.ts', import.meta.url).href

/** Runs the programs of a guide as one, on a service of its own; gives the lines that it prints. */
async function runPrograms(t: TestContext, guide: string): Promise<string[]> {
  const app = await startApp(t)
  const folder = temporaryFolder(t)
  const program = codeBlocks(guide, 'js')
    .join('\n')
    .replaceAll('http://127.0.0.1:8080', app.url)
    .replace('plantstore/client', CLIENT)
  writeFileSync(join(folder, 'program.mjs'), program)
  const { stdout } = await promisify(execFile)(process.execPath, ['program.mjs'], {
    cwd: folder,
    env: { ...process.env, PLANTSTORE_TOKEN: TOKEN },
  })
  return stdout.trim().split('\n')
}

test('the client of the README works as it is written, in ten lines', async (t) => {
  const [block = ''] = codeBlocks('README.md', 'js')
  assert.ok(block.trim().split('\n').length <= 10)
  assert.deepEqual(await runPrograms(t, 'README.md'), ['9007199254740995n Euterpe oleracea'])
})

test('the programs of docs/client.md work as they are written', async (t) => {
  const lines = await runPrograms(t, 'docs/client.md')
  assert.equal(lines[0], '9007199254740995n Euterpe oleracea')
  assert.match(lines[1] ?? '', /9007199254740995/)
  assert.equal(lines[2], '0 1 []')
  assert.match(lines.join('\n'), /^\d+ …$/m)
  assert.equal(lines.at(-1), 'Seed 1000')
})

test('no other guide has programs that nobody runs', () => {
  const withPrograms = GUIDES.filter((guide) => codeBlocks(guide, 'js').length > 0)
  assert.deepEqual(withPrograms, ['README.md', 'docs/client.md'])
})
