import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { startApp } from '../support/http/start-app.ts'
import { runLines, shellFolder } from './example-shell.ts'

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
const [, section = ''] = /^## The command line\n(.*?)^## /ms.exec(readme) ?? []

test('what the README tells of the command line works as it is written', async (t) => {
  const folder = shellFolder(t)
  const app = await startApp(t)
  const blocks = [...section.matchAll(/^```bash\n(.*?)^```$/gms)]
  assert.ok(blocks.length >= 5, 'the section is there')
  const outputs: string[] = []
  for (const [, block = ''] of blocks) {
    outputs.push(await runLines(folder, block, app))
  }
  const [first = '', second, third, fourth, fifth = ''] = outputs
  assert.match(
    first,
    /^9007199254740993\tQuercus robur\ttree\n-7\tAçaí palm\tpalm\n-7\tAçaí palm\tpalm\t.*\n9007199254740993\t/,
  )
  assert.match(first, /\n-7\tEuterpe oleracea\t\t[^\n]+\ntree\t1\n$/)
  assert.equal(second, 'Quercus robur\n')
  assert.equal(third, '0 created, 1 skipped.\n')
  assert.equal(fourth, '1 created, 1 refused.\n1 created.\n')
  assert.match(fifth, /^20 requests to \S+\/healthz, 0 failed\np50 /)
})
