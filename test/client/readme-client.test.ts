import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { startApp, TOKEN, temporaryFolder } from '../support/http/start-app.ts'

const ROOT = new URL('../../', import.meta.url)

test('what the README shows of the client works as it is written', async (context) => {
  const readme = readFileSync(new URL('README.md', ROOT), 'utf8')
  const blocks = [...readme.matchAll(/^```js\n(.*?)^```$/gms)].map((match) => match[1] ?? '')
  assert.equal(blocks.length, 2)
  const app = await startApp(context)
  const folder = temporaryFolder(context)
  const client = new URL('src/client/plant-store-client.ts', ROOT).href
  const program = blocks
    .join('\n')
    .replaceAll('http://127.0.0.1:8080', app.url)
    .replace('plantstore/client', client)
  writeFileSync(join(folder, 'program.mjs'), program)
  const { stdout } = await promisify(execFile)(process.execPath, ['program.mjs'], {
    cwd: folder,
    env: { ...process.env, PLANTSTORE_TOKEN: TOKEN },
  })
  const lines = stdout.trim().split('\n')
  assert.deepEqual(lines.slice(0, 3), [
    '9007199254740995n Euterpe oleracea',
    'The id 9007199254740995 is taken; choose another.',
    '0 1 []',
  ])
  assert.match(stdout, /^\d+ …$/m)
  assert.equal(lines.at(-1), 'Seed 1000')
})
