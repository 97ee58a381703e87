import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startApp } from '../support/http/start-app.ts'
import { read } from '../support/source-imports.ts'
import { codeBlocks, GUIDES, PAGES } from './documents.ts'
import { runCommandLines, runCurlExamples, runPrograms } from './run-guide.ts'

/** Runs the curl examples of a guide on a service of its own; returns the output of each. */
const runExamples = async (t: TestContext, guide: string) => runCurlExamples(t, await startApp(t), guide)

for (const guide of GUIDES.filter((one) => codeBlocks(one, 'sh').length > 0)) {
  test(`the curl examples of ${guide} work unchanged`, async (t) => {
    const outputs = await runExamples(t, guide)
    for (const [code] of outputs.join('').matchAll(/(?<="error":)\d{5}/g))
      assert.ok(read(guide).includes(`code ${code}`), `${guide} does not expect ${code}`)
  })
}

test('the examples of the API have the responses on the page', async (t) => {
  const [created, got, found, updated, stale, retried, deleted, missing] = await runExamples(t, 'docs/api.md')
  assert.equal(created, '{"name":"Açaí palm","tag":"palm"}')
  assert.match(got ?? '', /etag: "[^"]+".*"id":9007199254740997,/is)
  assert.match(found ?? '', /Açaí palm.*\{"tag":"palm","count":1\}/s)
  assert.doesNotMatch(updated ?? '', /"tag"/)
  assert.match(stale ?? '', /"error":41201/)
  assert.equal(retried, '{"name":"Medicago ×varia"}'.repeat(2))
  assert.equal(deleted, '')
  assert.match(missing ?? '', /"error":40402/)
})

test('the examples of import and export have the responses on the page', async (t) => {
  const outputs = await runExamples(t, 'docs/bulk.md')
  assert.equal(outputs[0], '{"created":2,"replaced":0,"skipped":0,"failed":0,"errors":[]}')
  assert.match(outputs[1] ?? '', /^\{"created":1,/)
  assert.match(outputs[2] ?? '', /^\{"created":2,/)
  assert.match(outputs[3] ?? '', /^\{"created":1,/)
  assert.match(outputs[4] ?? '', /"type":"report","created":1,/)
  assert.match(outputs[5] ?? '', /Quercus robur.*\nid,name,tag/s)
  assert.ok(outputs[6]?.startsWith('\uFEFFid,name,tag'))
})

test('a reader can follow the README and then every page on one store', async (t) => {
  const app = await startApp(t)
  for (const guide of ['README.md', ...PAGES]) {
    const outputs = [
      ...(await runCurlExamples(t, app, guide)),
      ...(codeBlocks(guide, 'bash').length > 0 ? await runCommandLines(t, app, guide) : []),
      ...(codeBlocks(guide, 'js').length > 0 ? await runPrograms(t, app, guide) : []),
    ]
    // Only the page of the client uses an id twice, and prints the message instead of the code.
    assert.doesNotMatch(outputs.join('\n'), /"error":40901|"failed":[1-9]/, guide)
  }
})
