import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { manPage } from '../../build/write-man-page.ts'
import { runCommand } from './run-command.ts'

/** Why to skip a test that formats the page: groff is missing. */
const skip = spawnSync('groff', ['--version']).status !== 0 && 'no program "groff"'

/** The page as a terminal shows it, and the warnings of the formatter. */
async function formatted(): Promise<{ text: string; warnings: string }> {
  const input = await manPage()
  const flags = ['-man', '-ww', '-Tascii', '-P-cbou', '-rLL=200n']
  const { stdout, stderr } = spawnSync('groff', flags, { input, encoding: 'utf8' })
  return { text: stdout, warnings: stderr }
}

test('the man page is formatted without a warning', { skip }, async () => {
  const { text, warnings } = await formatted()
  assert.equal(warnings, '')
  for (const heading of ['NAME', 'SYNOPSIS', 'COMMANDS', 'OPTIONS', 'EXAMPLES', 'EXIT STATUS']) {
    assert.match(text, new RegExp(`^${heading}$`, 'm'))
  }
})

test('the man page has every command, flag and example of the help', { skip }, async (t) => {
  const { text } = await formatted()
  const words = new Set(text.split(/\s+/))
  const help = async (...path: string[]) => (await runCommand(t, [...path, '--help'])).stdout
  const namesIn = (page: string) =>
    [...page.matchAll(/^ {2}([a-z]+)[ [].* {2}/gm)].map(([, name = '']) => name)
  const commands = namesIn(await help()).filter((name) => name !== 'help')
  assert.ok(commands.length > 15)
  const paths = [
    ...commands.map((name) => [name]),
    ...['create', 'list', 'rotate', 'revoke'].map((name) => ['token', name]),
  ]
  for (const path of paths) {
    const page = await help(...path)
    assert.ok(text.includes(`plantstore ${path.join(' ')} `), path.join(' '))
    for (const [flag] of page.matchAll(/(?<=^ {2}(?:-\w, )?)--[a-z-]+/gm)) assert.ok(words.has(flag), flag)
    const [, examples = ''] = page.split(/^Examples?:\n/m)
    for (const line of examples.trim().split('\n')) assert.ok(text.includes(line.trim()), line)
  }
})
