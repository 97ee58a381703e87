import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { wrapHelp } from '../../src/cli/output/help-text.ts'
import { flagOf, type SettingName, variableOf } from '../../src/config/read-config.ts'
import { SETTINGS } from '../../src/config/settings.ts'
import { readVersion } from '../../src/version.ts'
import { runCommand } from './run-command.ts'

const COMMANDS = readdirSync(new URL('../../src/cli/commands/', import.meta.url))
  .filter((file) => file.endsWith('-command.ts'))
  .map((file) => file.replace('-command.ts', ''))

test('--version prints the version and nothing else', async (test) => {
  const { code, stdout, stderr } = await runCommand(test, ['--version'])
  assert.deepEqual([code, stdout, stderr], [0, `${await readVersion()}\n`, ''])
})

test('--help lists the commands and how to begin', async (test) => {
  const { code, stdout, stderr } = await runCommand(test, ['--help'])
  assert.deepEqual([code, stderr], [0, ''])
  for (const word of ['Usage: plantstore', 'serve', 'token', '--version', 'Examples:', 'Exit codes: '])
    assert.ok(stdout.includes(word), word)
})

test('help prints the help of the given command', async (test) => {
  for (const words of [['list'], ['token', 'create']]) {
    const { code, stdout } = await runCommand(test, ['help', ...words])
    assert.equal(code, 0)
    assert.ok(stdout.startsWith(`Usage: plantstore ${words.join(' ')} [options]`), stdout)
  }
})

test('the help of serve lists every setting: flag, variable, default and purpose', async (test) => {
  const { code, stdout } = await runCommand(test, ['serve', '--help'])
  assert.equal(code, 0)
  const text = stdout.replace(/\s+/g, ' ')
  for (const [name, setting] of Object.entries(SETTINGS)) {
    const flag = flagOf(name as SettingName)
    assert.ok(text.includes(variableOf(name as SettingName)), name)
    // A secret on the command line could be read in the list of processes.
    assert.equal(text.includes(`${flag} `), setting.type !== 'secret', name)
    if (setting.type === 'secret') continue
    assert.ok(text.includes(setting.about), name)
    if ('default' in setting && setting.type !== 'boolean') {
      assert.ok(text.includes(`(default: ${setting.default})`), name)
    }
  }
})

test('every help fits 80 columns in a pipe', async (test) => {
  const pages = [
    [],
    ...COMMANDS.map((name) => [name]),
    ...['create', 'list', 'rotate', 'revoke'].map((name) => ['token', name]),
  ]
  assert.ok(pages.length > 20)
  for (const words of pages) {
    const { stdout } = await runCommand(test, [...words, '--help'])
    assert.deepEqual(
      stdout.split('\n').filter((line) => line.length > 80),
      [],
      words.join(' '),
    )
  }
})

test('help is as wide as the terminal', async () => {
  assert.equal(
    wrapHelp('one two three four\nfive\n\nExample:\n  plantstore a long command line\n', 12),
    ['one two', 'three four', 'five', '', 'Example:', '  plantstore a long command line', ''].join('\n'),
  )
})

test('the help of serve begins with what one needs first', async (test) => {
  const { stdout } = await runCommand(test, ['serve', '--help'])
  const headings = [...stdout.matchAll(/^(\S.*):$/gm)].map(([, heading]) => heading)
  assert.equal(headings[0], 'Address and database')
  const flags = [...stdout.matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, flag]) => flag)
  assert.deepEqual(flags.slice(0, 3), ['--host', '--port', '--database'])
})

test('an invalid command line exits with 2 and a suggestion', async (test) => {
  const cases: [string[], RegExp][] = [
    [['serv'], /^plantstore: unknown command 'serv'\n\(Did you mean serve\?\)\n$/],
    [['serve', '--prot', '80'], /^plantstore: unknown option '--prot'\n\(Did you mean --port\?\)\n$/],
    [['serve', '--token', 'secret-with-16-characters'], /^plantstore: unknown option '--token'/],
    [['serve', '--log-level', 'debgu'], /\n\(Did you mean debug\?\)\n$/],
    [['constructor'], /^plantstore: unknown command 'constructor'\n$/],
    [['help', 'nosuch'], /^plantstore: unknown command 'nosuch'\n$/],
    [['help', 'lits'], /^plantstore: unknown command 'lits'\n\(Did you mean list\?\)\n$/],
    [['help', 'token', 'nosuch'], /^plantstore: unknown command 'nosuch'\n$/],
    [['token', 'revoke'], /^plantstore: missing required argument 'id'\n$/],
    [
      ['--port', '80'],
      /^plantstore: unknown option '--port'\n\(Put it after a command: plantstore serve --port\.\)\n$/,
    ],
    [
      ['--url', 'http://localhost', 'list'],
      /Put it after a command, for example: plantstore \w+ --url\.\)\n$/,
    ],
    [['a\u001b[31mb'], /^plantstore: unknown command 'a\\u001b\[31mb'\n$/],
    [[], /^Usage: plantstore \[options\] \[command\]\n/],
    [['token'], /^Usage: plantstore token \[options\] \[command\]\n/],
  ]
  const runs = await Promise.all(cases.map(([parameters]) => runCommand(test, parameters)))
  for (const [at, { code, stdout, stderr }] of runs.entries()) {
    const [parameters, message] = cases[at] ?? assert.fail()
    assert.deepEqual([code, stdout], [2, ''], parameters.join(' '))
    assert.match(stderr, message)
    assert.doesNotMatch(stderr, /\n +at /)
  }
})
