import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { eventually } from '../../support/eventually.ts'
import type { Lifetime } from '../../support/http/start-app.ts'
import { shellFolder } from '../example-shell.ts'
import { NO_TERMINAL, startTerminal } from '../terminal.ts'

const lacks = (shell: string) => spawnSync(shell, ['--version']).error !== undefined && `no ${shell}`

/** A folder with the scripts, a few files, and a `plantstore` for the path. */
function prepare(test: Lifetime): string {
  const folder = shellFolder(test)
  const command = join(folder, 'bin', 'plantstore')
  for (const shell of ['bash', 'zsh', 'fish']) {
    writeFileSync(join(folder, `script.${shell}`), execFileSync(command, ['completion', shell]))
  }
  mkdirSync(join(folder, 'files'))
  writeFileSync(join(folder, 'files', 'one plant.csv'), '')
  writeFileSync(join(folder, 'files', 'other.ndjson'), '')
  return folder
}

/** A line up to the cursor, and its completions. */
const CASES: [string, string[]][] = [
  ['plantstore im', ['import']],
  ['plantstore del', ['delete']],
  ['plantstore token ', ['create', 'help', 'list', 'revoke', 'rotate']],
  ['plantstore token list --da', ['--database']],
  ['plantstore list --ta', ['--tag']],
  ['plantstore search list --a', ['--after', '--all']],
  ['plantstore import --on-conflict ', ['fail', 'replace', 'skip']],
  ['plantstore import --format c', ['csv']],
  ['plantstore serve --log-level de', ['debug']],
  ['plantstore token create --scope plants', ['plants:read', 'plants:write']],
  ['plantstore completion ', ['bash', 'fish', 'zsh']],
  ['plantstore import ot', ['other.ndjson']],
  ['plantstore import --errors one', ['one plant.csv']],
  ['plantstore copy --from ot', ['other.ndjson']],
  ['plantstore export --tag ', []],
  ['plantstore get ', []],
]

test('bash completes commands, flags, choices and files', { skip: lacks('bash') }, (t) => {
  const folder = prepare(t)
  // Bash sets these variables for the function.
  const script = `source ../script.bash
complete -p plantstore > /dev/null || exit 9
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_plantstore 2> /dev/null
printf '%s\\n' "\${COMPREPLY[@]}"`
  for (const [line, expected] of CASES) {
    const words = line.split(' ')
    const output = execFileSync('bash', ['--norc', '-c', script, 'bash', ...words], {
      cwd: join(folder, 'files'),
      encoding: 'utf8',
    })
    assert.deepEqual(output.trim().split('\n').filter(Boolean).sort(), expected, line)
  }
})

test('in a real bash a tab completes, also after an equals sign and a colon, and evaluates nothing', {
  skip: NO_TERMINAL || lacks('bash'),
}, async (t) => {
  const folder = prepare(t)
  const terminal = startTerminal(t, 'exec bash --norc --noprofile -i', {
    folder: join(folder, 'files'),
    environment: { PATH: process.env.PATH ?? '', PS1: '$ ', HOME: folder, INPUTRC: '/dev/null' },
  })
  terminal.type("source ../script.bash; bind 'set enable-bracketed-paste off'; echo rea''dy\r")
  await terminal.shows(/[\r\n]ready\n/)
  const typed: [string, RegExp][] = [
    ['plantstore imp\t', /plantstore import $/],
    ['plantstore import --format=c\t', /--format=csv $/],
    ['plantstore token create --scope plants:w\t', /--scope plants:write $/],
    ['plantstore import one\t', /import one\\ plant\.csv $/],
    ['plantstore get $(touch pwned)\t\t', /pwned\)/],
  ]
  for (const [keys, pattern] of typed) {
    terminal.type(keys)
    await terminal.shows(pattern)
    // Ctrl-U clears the line.
    terminal.type('\u0015')
  }
  assert.ok(!existsSync(join(folder, 'files', 'pwned')))
})

test('fish completes commands, flags, choices and files', { skip: lacks('fish') }, (t) => {
  const folder = prepare(t)
  for (const [line, expected] of CASES) {
    const output = execFileSync(
      'fish',
      ['--no-config', '-c', `source ../script.fish; complete -C '${line}'`],
      {
        cwd: join(folder, 'files'),
        encoding: 'utf8',
        env: { PATH: `${join(folder, 'bin')}:${process.env.PATH}`, HOME: folder },
      },
    )
    const words = output.split('\n').map((one) => one.split('\t')[0]?.replaceAll('\\', '') ?? '')
    assert.deepEqual(words.filter(Boolean).sort(), expected, line)
  }
})

test('zsh completes commands, flags, choices and files', { skip: NO_TERMINAL || lacks('zsh') }, async (t) => {
  const folder = prepare(t)
  const terminal = startTerminal(t, 'exec zsh -f -i', {
    folder: join(folder, 'files'),
    environment: { PATH: `${join(folder, 'bin')}:${process.env.PATH}`, HOME: folder, TERM: 'dumb' },
  })
  terminal.type(
    "PS1='$ '; unsetopt zle_bracketed_paste prompt_sp; autoload -U compinit; compinit -u -d ../dump; source ../script.zsh; echo rea''dy\r",
  )
  await terminal.shows(/[\r\n]ready\n/)
  for (const [line, expected] of CASES) {
    const start = terminal.raw.length
    terminal.type(line + (expected.length > 1 ? '\t\t' : '\t'))
    await eventually(() => {
      const shown = stripVTControlCharacters(terminal.raw.slice(start))
      return expected.every((one) => shown.includes(one.replaceAll(' ', '\\ ')))
    })
    terminal.type('\u0015')
  }
})
