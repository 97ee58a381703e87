import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { readVersion } from '../../src/version.ts'
import { runCommand } from '../cli/run-command.ts'
import { startApp } from '../support/http/start-app.ts'
import { codeBlocks, GUIDES, inlineCode } from './documents.ts'
import { runCommandLines } from './run-guide.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

test('the examples of the command line work unchanged', async (t) => {
  const outputs = await runCommandLines(t, await startApp(t), 'docs/cli.md')
  const [first = '', second, third, fourth, fifth = ''] = outputs
  assert.match(
    first,
    /^9007199254740999\tQuercus robur\ttree\n-7\tAçaí palm\tpalm\n-7\tAçaí palm\tpalm\t.*\n9007199254740999\t/,
  )
  assert.match(first, /\n-7\tEuterpe oleracea\t\t[^\n]+\ntree\t1\n$/)
  assert.equal(second, 'Quercus robur\n')
  assert.match(third ?? '', /^0 created, 1 skipped\.\n$/)
  assert.match(fourth ?? '', /^1 created, 1 \w+\.\n1 created\.\n$/)
  assert.match(fifth, /^20 requests to \S+\/healthz, 0 failed\np50 /)
})

test('no other page has examples of the command line that are not tested', () => {
  for (const guide of GUIDES.filter((one) => one !== 'docs/cli.md'))
    assert.deepEqual(codeBlocks(guide, 'bash'), [], guide)
})

test('the lines of the guides run as pasted, in a clone and with the installed package', () => {
  const bare = GUIDES.flatMap((guide) =>
    ['', 'sh', 'bash']
      .flatMap((language) => codeBlocks(guide, language))
      .concat(inlineCode(guide))
      .flatMap((code) => code.split('\n'))
      .filter((line) => /^plantstore [a-z-]/.test(line))
      .map((line) => `${guide}: ${line}`),
  )
  assert.deepEqual(bare, [])
})

test('npx plantstore runs in a clone', async () => {
  const { stdout } = await promisify(execFile)('npx', ['plantstore', '--version'], { cwd: ROOT })
  assert.equal(stdout.trim(), await readVersion())
})

test('every command and flag of plantstore that a guide names exists', async (t) => {
  const calls = GUIDES.flatMap((guide) => {
    const code = ['', 'sh', 'bash'].flatMap((language) => codeBlocks(guide, language))
    const lines = [...code.join('\n').split('\n'), ...inlineCode(guide)]
    return lines
      .flatMap((line) => [...line.matchAll(/(?<![\w/.-])plantstore ([a-z][^|>#&)]*)/g)])
      .map(([, words = '']) => ({ guide, words: words.trim().split(/\s+/) }))
  })
  assert.ok(calls.length > 40, String(calls.length))
  const helps = new Map<string, Promise<string>>()
  const helpOf = (words: readonly string[]) => {
    const name = words.slice(0, words[0] === 'token' ? 2 : 1).join(' ')
    const help = helps.get(name) ?? runCommand(t, [...name.split(' '), '--help']).then((run) => run.stdout)
    helps.set(name, help)
    return help
  }
  for (const { guide, words } of calls) {
    const help = await helpOf(words)
    const [first = ''] = words
    assert.match(help, new RegExp(`^Usage: plantstore ${first}`), `${guide}: plantstore ${words.join(' ')}`)
    for (const flag of words.filter((word) => /^--[a-z]/.test(word)))
      assert.match(help, new RegExp(`${flag}\\b`), `${guide}: plantstore ${words.join(' ')}`)
  }
})
