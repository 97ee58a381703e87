import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { type StartedApp, startApp } from '../support/http/start-app.ts'
import { read } from '../support/source-imports.ts'
import { codeBlocks, GUIDES } from './documents.ts'

const run = promisify(execFile)
const SCOPES = ['plants:read', 'plants:write', 'tokens:manage']

/** A token such as the first start prints: the fixed one cannot be rotated. */
async function createToken(app: StartedApp): Promise<string> {
  const response = await app.send('POST', '/tokens', JSON.stringify({ label: 'docs', scopes: SCOPES }))
  const { token } = (await response.json()) as { token: string }
  return token
}

/** Runs the curl examples of a guide in turn on a service of its own; gives the output of each. */
async function runExamples(t: TestContext, guide: string): Promise<string[]> {
  const app = await startApp(t)
  const TOKEN = await createToken(app)
  const outputs: string[] = []
  for (const block of codeBlocks(guide, 'sh')) {
    const script = block.replaceAll('http://127.0.0.1:8080', app.url)
    const { stdout } = await run('sh', ['-ec', script], { env: { ...process.env, TOKEN } })
    outputs.push(stdout)
  }
  return outputs
}

for (const guide of GUIDES.filter((one) => codeBlocks(one, 'sh').length > 0)) {
  test(`the curl examples of ${guide} work as they are written`, async (t) => {
    const outputs = await runExamples(t, guide)
    for (const [code] of outputs.join('').matchAll(/(?<="error":)\d{5}/g))
      assert.ok(read(guide).includes(`code ${code}`), `${guide} does not expect ${code}`)
  })
}

test('the examples of the API get what the page says', async (t) => {
  const [created, got, found, updated, stale, retried, deleted, missing] = await runExamples(t, 'docs/api.md')
  assert.equal(created, '{"name":"Açaí palm","tag":"palm"}')
  assert.match(got ?? '', /etag: "[^"]+".*"id":9007199254740993,/is)
  assert.match(found ?? '', /Açaí palm.*\{"tag":"palm","count":1\}/s)
  assert.doesNotMatch(updated ?? '', /"tag"/)
  assert.match(stale ?? '', /"error":41201/)
  assert.equal(retried, '{"name":"Medicago ×varia"}'.repeat(2))
  assert.equal(deleted, '')
  assert.match(missing ?? '', /"error":40402/)
})

test('the examples of import and export get what the page says', async (t) => {
  const outputs = await runExamples(t, 'docs/bulk.md')
  assert.equal(outputs[0], '{"created":2,"replaced":0,"skipped":0,"failed":0,"errors":[]}')
  assert.match(outputs[1] ?? '', /^\{"created":1,/)
  assert.match(outputs[2] ?? '', /^\{"created":2,/)
  assert.match(outputs[3] ?? '', /"type":"report","created":1,/)
  assert.match(outputs[4] ?? '', /Quercus robur.*\nid,name,tag/s)
  assert.ok(outputs[5]?.startsWith('\uFEFFid,name,tag'))
})
